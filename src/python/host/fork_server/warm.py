"""Prepares the process from which tools are forked: this work costs a tool neither time nor memory."""

import asyncio
import gc
import importlib
import sys
from typing import Iterable

from loading import tool
from walls import confine

# The modules that published tools import most.
COMMON = (
    "requests", "httpx", "aiohttp", "bs4", "fastapi", "open_webui.routers.images", "open_webui.models.users",
    "sqlite3", "xml.etree.ElementTree", "smtplib", "email.mime.multipart", "email.mime.text", "email.mime.base", "difflib", "statistics",
)  # fmt: skip


def up(readable: Iterable[str]) -> None:
    """Does the common work of all tools once, so that children share its memory and save its time. `readable`:
    folders that all tools may read.
    """
    source = "class Tools:\n class Valves(M):\n  a: str = ''\n def f(self, a: str, b: int = 1, c: list[str] = []): pass"
    tree = compile(source.replace("(M)", "(__import__('pydantic').BaseModel)"), "warm", "exec", 0x400)
    for function in tool.Tool("warm", source, tree).functions.values():
        function.bind({"a": "a", "b": "1"}, {})
    del sys.modules["tool_warm"]

    async def once() -> None:
        await asyncio.to_thread(int)

    asyncio.run(once())
    confine.warm(readable)
    # Without a collection first: tools would write to the freed memory, and each write copies the page.
    gc.freeze()


def load(name: str) -> None:
    try:
        importlib.import_module(name)
    except ImportError:
        return  # A system interpreter that has Pydantic and little more.
    gc.freeze()
