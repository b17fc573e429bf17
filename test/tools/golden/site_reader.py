"""
title: Site reader
author: Parley
version: 0.9.0
requirements: beautifulsoup4, requests, aiohttp
"""

import asyncio
import concurrent.futures
import json
import re
import unicodedata
from datetime import datetime
from typing import Any, Callable, List
from urllib.parse import urljoin, urlparse

import aiohttp
import requests
from bs4 import BeautifulSoup
from pydantic import BaseModel, Field


class HelpFunctions:
    def base_url(self, url):
        parsed = urlparse(url)
        return f"{parsed.scheme}://{parsed.netloc}"

    def clean(self, text):
        return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text)).strip()

    def read(self, html, url):
        soup = BeautifulSoup(html, "html.parser")
        for tag in soup(["script", "style", "noscript"]):
            tag.decompose()
        title = soup.title.string if soup.title else "No title"
        links = [urljoin(url, a["href"]) for a in soup.select("a[href]")]
        return {"title": self.clean(title), "url": url, "content": self.clean(soup.get_text(" ")), "links": links}


class EventEmitter:
    def __init__(self, event_emitter: Callable[[dict], Any] = None):
        self.event_emitter = event_emitter

    async def emit(self, description="Unknown state", status="in_progress", done=False):
        if self.event_emitter:
            await self.event_emitter(
                {"type": "status", "data": {"status": status, "description": description, "done": done}}
            )


class Tools:
    class Valves(BaseModel):
        CONCURRENCY: int = Field(default=3, description="Pages that are read at once")
        TIMEOUT: float = Field(default=5.0)
        IGNORED: str = Field(default="", description="Comma-separated sites")

    def __init__(self):
        self.valves = self.Valves()
        self.headers = {"User-Agent": "Mozilla/5.0 (Parley)"}

    def _load(self, url: str) -> dict:
        try:
            response = requests.get(url, headers=self.headers, timeout=self.valves.TIMEOUT)
            response.raise_for_status()
        except requests.exceptions.RequestException as e:
            return {"url": url, "error": type(e).__name__}
        return HelpFunctions().read(response.text, url)

    async def read_pages(self, urls: List[str], __event_emitter__: Callable[[dict], Any] = None) -> str:
        """
        Read some pages at once and cite them.
        :params urls: Their addresses
        :return: What they say, as JSON
        """
        emitter = EventEmitter(__event_emitter__)
        await emitter.emit(f"Reading {len(urls)} pages")
        found = []
        with concurrent.futures.ThreadPoolExecutor(max_workers=self.valves.CONCURRENCY) as executor:
            futures = {executor.submit(self._load, url): url for url in urls}
            for future in concurrent.futures.as_completed(futures):
                found.append(future.result())
        found.sort(key=lambda one: urls.index(one["url"]))
        for one in found:
            if "error" in one:
                continue
            await __event_emitter__(
                {
                    "type": "citation",
                    "data": {
                        "document": [one["content"]],
                        "metadata": [{"source": one["url"], "date_accessed": datetime.now().isoformat()}],
                        "source": {"name": one["title"], "url": one["url"]},
                    },
                }
            )
        await emitter.emit("Done", status="complete", done=True)
        return json.dumps(found, ensure_ascii=False)

    async def follow(self, url: str, depth: int = 1, __event_emitter__=None) -> dict:
        """
        Follow the links of a page.
        :param url: Where to begin
        :param depth: How far
        """
        seen: dict[str, str] = {}
        gate = asyncio.Semaphore(self.valves.CONCURRENCY)
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=self.valves.TIMEOUT)) as session:

            async def visit(address: str, left: int) -> None:
                if address in seen:
                    return
                seen[address] = ""
                async with gate, session.get(address) as response:
                    page = HelpFunctions().read(await response.text(), address)
                seen[address] = page["title"]
                if left > 0:
                    await asyncio.gather(*(visit(link, left - 1) for link in page["links"]))

            await visit(url, depth)
        return seen
