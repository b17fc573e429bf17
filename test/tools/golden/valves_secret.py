"""
title: Settings of all kinds
author: Parley
version: 0.1
"""

import os
from enum import Enum
from typing import Dict, List, Literal, Optional

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator


class Level(str, Enum):
    low = "low"
    high = "high"


class Server(BaseModel):
    host: str = "localhost"
    token: Optional[SecretStr] = None


class Tools:
    class Valves(BaseModel):
        model_config = ConfigDict(extra="ignore", validate_assignment=True)

        API_KEY: SecretStr = Field(default=SecretStr(""), description="Key")
        API_BASE: str = Field(default_factory=lambda: os.getenv("API_BASE", "https://api.example.com"))
        LEVEL: Level = Level.low
        MODE: Literal["a", "b"] = "a"
        SERVERS: List[Server] = Field(default_factory=list)
        HEADERS: Dict[str, str] = {}
        PIN: Optional[int] = Field(default=None, json_schema_extra={"input": {"type": "password"}})

        @model_validator(mode="after")
        def check(self):
            if self.LEVEL is Level.high and not self.API_KEY.get_secret_value():
                raise ValueError("a high level needs a key")
            return self

    class UserValves(BaseModel):
        LANGUAGE: str = "en"
        TOKEN: SecretStr = SecretStr("")

    def __init__(self):
        self.valves = self.Valves(**{"API_BASE": os.getenv("API_BASE", "https://api.example.com")})
        self.user_valves = self.UserValves()
        self.tools = None

    def show(self, __user__: dict = {}) -> dict:
        """Show what is set, without secrets."""
        mine = __user__["valves"]
        return {
            "base": self.valves.API_BASE,
            "level": self.valves.LEVEL,
            "hosts": [server.host for server in self.valves.SERVERS],
            "key": str(self.valves.API_KEY),
            "letters": len(self.valves.API_KEY.get_secret_value()),
            "tokens": [server.token and len(server.token.get_secret_value()) for server in self.valves.SERVERS],
            "language": mine.LANGUAGE,
            "mine": dict(mine),
            "dumped": sorted(self.valves.model_dump()),
            "own": len(mine.TOKEN.get_secret_value()),
        }

    def set_level(self, level: str) -> str:
        """
        Set the level until the next call.
        :param level: low or high
        """
        self.valves.LEVEL = level
        return self.valves.LEVEL.value
