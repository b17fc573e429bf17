"""
title: Home
author_url: https://example.com
git_url: https://example.com/home.git
required_open_webui_version: 0.4.0
"""
from enum import Enum
from typing import Optional

from pydantic import BaseModel, Field


class Action(str, Enum):
    """What to do."""

    on = "on"
    off = "off"
    toggle = "toggle"


class Tools:
    class Valves(BaseModel):
        HA_URL: str = Field(default="http://homeassistant.local:8123", description="Address")
        HA_TOKEN: str = Field(default="", description="Long-lived token")

    def __init__(self):
        self.valves = self.Valves()
        self.citation = False

    async def control_light(
        self, entity_id: str, action: Action = Action.toggle, brightness: Optional[int] = None, __event_emitter__=None
    ) -> str:
        """
        Control a light.

        :param entity_id: Such as light.kitchen
        :param action: What to do with it
        :param brightness: From 0 to 255
        """
        return "ok"

    async def list_lights(self) -> list[str]:
        """List the lights of the house."""
        return []
