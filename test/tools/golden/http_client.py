"""
title: Web page
requirements:
"""
import urllib.request

from pydantic import BaseModel, Field, HttpUrl


class Tools:
    class Valves(BaseModel):
        user_agent: str = Field(default="parley", description="How the tool names itself")
        max_bytes: int = Field(default=100_000, gt=0, multiple_of=1000)

    def __init__(self):
        self.valves = self.Valves()

    def fetch(self, url: HttpUrl, headers: dict[str, str] = {}) -> str:
        """
        Get a page.
        :param url: Its address
        """
        request = urllib.request.Request(str(url), headers=headers)
        return urllib.request.urlopen(request).read(self.valves.max_bytes).decode()
