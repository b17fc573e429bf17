"""
title: Report of a page
author: Parley
version: 0.2.0
requirements: beautifulsoup4, aiohttp
description: Reads a page and hands its paragraphs over as a file.
"""

import asyncio
import csv
import io
from tempfile import SpooledTemporaryFile
from typing import Any, Awaitable, Callable, Optional

import aiohttp
from bs4 import BeautifulSoup
from fastapi import Request, UploadFile
from fastapi.concurrency import run_in_threadpool
from open_webui.models.files import Files
from open_webui.models.users import UserModel, Users
from open_webui.routers.files import upload_file_handler
from pydantic import BaseModel, Field


class Emitter:
    def __init__(self, emit: Optional[Callable[[dict], Awaitable[None]]]):
        self.emit = emit

    async def status(self, text: str, done: bool = False) -> None:
        if self.emit:
            await self.emit({"type": "status", "data": {"description": text, "done": done, "hidden": False}})

    async def citation(self, url: str, text: str) -> None:
        if self.emit:
            data = {"document": [text], "metadata": [{"source": url}], "source": {"name": url, "url": url}}
            await self.emit({"type": "citation", "data": data})


class Tools:
    class Valves(BaseModel):
        timeout: int = Field(default=10, ge=1, description="Seconds to wait for the page")

    class UserValves(BaseModel):
        separator: str = Field(default=",", max_length=1, description="Between columns")

    def __init__(self):
        self.valves = self.Valves()
        self.citation = False

    async def report(
        self,
        url: str,
        filename: str = "report.csv",
        __user__: dict = {},
        __request__: Request = None,
        __event_emitter__: Callable[[dict], Any] = None,
    ) -> str:
        """
        Read a page and save its paragraphs as a file.
        :param url: Address of the page
        :param filename: Name of the file
        :return: Where the file is
        """
        emitter = Emitter(__event_emitter__)
        await emitter.status(f"Reading {url}")
        timeout = aiohttp.ClientTimeout(total=self.valves.timeout)
        async with aiohttp.ClientSession(timeout=timeout) as session:
            async with session.get(url) as response:
                response.raise_for_status()
                soup = BeautifulSoup(await response.text(), "html.parser")
        paragraphs = [p.get_text(" ", strip=True) for p in soup.find_all("p")]
        text = io.StringIO()
        csv.writer(text, delimiter=__user__["valves"].separator).writerows(enumerate(paragraphs, 1))
        file = SpooledTemporaryFile(max_size=1024 * 1024)
        file.write(text.getvalue().encode())
        file.seek(0)
        user: Optional[UserModel] = await asyncio.to_thread(Users.get_user_by_id, __user__["id"])
        upload = UploadFile(file=file, filename=filename, headers={"content-type": "text/csv"})
        item = await run_in_threadpool(
            upload_file_handler, __request__, file=upload, metadata={"source": url}, process=False, user=user
        )
        stored = Files.get_file_by_id(item.id)
        await emitter.citation(url, "\n".join(paragraphs))
        if __event_emitter__:
            link = {"type": "file", "id": stored.id, "name": stored.filename, "url": f"/api/v1/files/{stored.id}"}
            await __event_emitter__({"type": "files", "data": {"files": [link]}})
        await emitter.status("Saved", done=True)
        return f"[{stored.filename}](/api/v1/files/{stored.id}/content)"
