"""
title: Weather
author: Parley
version: 0.1.0
license: MIT
description: What the weather is and will be.
"""

from typing import Literal, Optional

from pydantic import BaseModel, Field


class Tools:
    class Valves(BaseModel):
        api_key: str = Field(default="", description="Key of the weather service")
        timeout: int = Field(default=10, ge=1, le=60, description="Seconds to wait for the service")

    class UserValves(BaseModel):
        units: Literal["metric", "imperial"] = Field(default="metric", description="How figures are shown")

    def __init__(self):
        self.valves = self.Valves()

    async def get_current_weather(self, city: str, __user__: dict = {}, __event_emitter__=None) -> str:
        """
        Get the current weather of a city.

        :param city: Name of the city, with the country where it is ambiguous
        :return: One sentence about the weather
        """
        return f"It is sunny in {city}."

    async def get_forecast(self, city: str, days: int = 3, lang: Optional[str] = None) -> str:
        """
        Get the forecast of the next days.

        :param city: Name of the city
        :param days: How many days, at most
            seven
        :param lang: Language of the answer
        """
        return f"{days} sunny days in {city}."
