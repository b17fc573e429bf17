import datetime
from datetime import date, time, timedelta
from decimal import Decimal
from uuid import UUID


class Tools:
    def plan(
        self,
        on: date,
        at: time = time(9, 30),
        begin: datetime.datetime = None,
        length: timedelta = timedelta(hours=1),
        price: Decimal = Decimal("1.50"),
        ticket: UUID = None,
    ):
        """
        Plan a meeting.
        :param on: The day
        """
