"""
title: Calendar file
author: Parley
version: 0.1
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Annotated, Optional
from zoneinfo import ZoneInfo

from pydantic import BaseModel, Field


class Entry(BaseModel):
    title: str = Field(description="What it is")
    start: datetime = Field(description="In ISO 8601; without an offset it is in the time zone of the user")
    minutes: int = Field(default=60, gt=0)
    place: Optional[str] = None


@dataclass
class Made:
    count: int
    first: datetime
    days: set[str] = field(default_factory=set)


class Tools:
    class UserValves(BaseModel):
        zone: str = Field(default="Europe/Berlin", description="Time zone")

    def make_calendar(
        self,
        entries: list[Entry],
        name: Annotated[str, Field(description="Name of the calendar", max_length=40)] = "Calendar",
        __user__: dict = None,
    ) -> dict:
        """
        Make a calendar file of some entries.

        :param entries: What is planned
        """
        zone = ZoneInfo(__user__["valves"].zone)
        lines = ["BEGIN:VCALENDAR", "VERSION:2.0", f"X-WR-CALNAME:{name}"]
        starts = []
        for entry in entries:
            start = entry.start if entry.start.tzinfo else entry.start.replace(tzinfo=zone)
            starts.append(start)
            end = start + timedelta(minutes=entry.minutes)
            stamp = "%Y%m%dT%H%M%SZ"
            lines += [
                "BEGIN:VEVENT",
                f"UID:{uuid.uuid4()}",
                f"DTSTART:{start.astimezone(timezone.utc):{stamp}}",
                f"DTEND:{end.astimezone(timezone.utc):{stamp}}",
                f"SUMMARY:{entry.title}",
                *([f"LOCATION:{entry.place}"] if entry.place else []),
                "END:VEVENT",
            ]
        lines.append("END:VCALENDAR")
        made = Made(len(entries), min(starts), {f"{start:%A}" for start in starts})
        return {"file": "\r\n".join(lines), "made": made}
