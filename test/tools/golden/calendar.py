from datetime import date, datetime
from typing import Optional

from pydantic import BaseModel, Field, model_validator


class Event(BaseModel):
    title: str
    start: datetime
    end: Optional[datetime] = None
    guests: list[str] = Field(default_factory=list, max_length=20)

    @model_validator(mode="after")
    def check(self):
        if self.end and self.end < self.start:
            raise ValueError("ends before it begins")
        return self


class Tools:
    def add_event(self, event: Event) -> str:
        """
        Add an event to the calendar.
        :param event: What, when and with whom
        """
        return event.title

    def list_events(self, day: Optional[date] = None, limit: int = 10) -> list[Event]:
        """
        List the events of a day.
        :param day: Today when it is left out
        """
        return []
