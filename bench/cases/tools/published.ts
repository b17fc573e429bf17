/**
 * A source like those of published tools: a frontmatter, typical imports, both kinds of valves, functions
 * with docstrings.
 */
export const published = (requirements: string, imports = '') => `"""
title: City guide
author: somebody
author_url: https://example.com
description: Weather, news and pictures of a city.
required_open_webui_version: 0.5.0
requirements: ${requirements}
version: 1.2.0
license: MIT
"""

import asyncio
import json
import logging
from datetime import datetime
from typing import Any, Awaitable, Callable, Literal, Optional

import aiohttp
import requests
${imports}
from pydantic import BaseModel, Field

logger = logging.getLogger(__name__)


class EventEmitter:
    def __init__(self, event_emitter: Callable[[dict], Any] = None):
        self.event_emitter = event_emitter

    async def emit(self, description: str, done: bool = False):
        if self.event_emitter:
            await self.event_emitter({"type": "status", "data": {"description": description, "done": done}})


class Article(BaseModel):
    title: str
    url: str = ""
    published: Optional[datetime] = None


class Tools:
    class Valves(BaseModel):
        api_key: str = Field(default="", description="Of the service", json_schema_extra={"input": {"type": "password"}})
        base_url: str = Field(default="https://api.example.com", description="Where the service is")
        timeout: int = Field(default=30, ge=1, le=120, description="Seconds to wait")
        units: Literal["metric", "imperial"] = Field(default="metric", description="Of the answers")

    class UserValves(BaseModel):
        language: str = Field(default="en", description="Of the answers")
        show_sources: bool = Field(default=True, description="Whether sources are cited")

    def __init__(self):
        self.valves = self.Valves()
        self.citation = True

    async def get_weather(
        self,
        city: str,
        days: int = 3,
        __user__: dict = {},
        __event_emitter__: Optional[Callable[[dict], Awaitable[None]]] = None,
    ) -> str:
        """
        The weather of a city.
        :param city: The name of the city
        :param days: How many days ahead
        :return: The forecast as text
        """
        await EventEmitter(__event_emitter__).emit(f"Asking for {city}")
        async with aiohttp.ClientSession() as session:
            async with session.get(f"{self.valves.base_url}/weather", params={"q": city}) as response:
                return json.dumps(await response.json())

    def search_news(self, query: str, limit: int = 10, since: Optional[str] = None, topics: list[str] = []) -> list[Article]:
        """
        Search the news.
        :param query: What to search for
        :param limit: How many articles
        :param since: The first day, as YYYY-MM-DD
        :param topics: Only these topics
        """
        found = requests.get(f"{self.valves.base_url}/news", params={"q": query}, timeout=self.valves.timeout)
        return [Article(**one) for one in found.json()[:limit]]

    async def find_picture(self, city: str, size: Literal["small", "large"] = "small", __request__=None) -> dict:
        """
        Find a picture of a city.
        :param city: The name of the city
        :param size: How large it is
        """
        return {"city": city, "size": size}
`;
