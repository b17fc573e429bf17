"""
title: Picture maker
author: Parley
version: 0.4
"""

import asyncio
import base64
import io
import struct
import zlib
from typing import Any, Optional

from fastapi import Request, UploadFile
from open_webui.models.files import Files
from open_webui.models.users import UserModel, Users
from open_webui.routers.files import upload_file_handler
from open_webui.routers.images import get_image_data, upload_image
from pydantic import BaseModel, Field


def png(width: int, height: int, color: tuple) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\x00" + bytes(color) * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Tools:
    class Valves(BaseModel):
        max_side: int = Field(default=2000, le=4000)

    def __init__(self):
        self.valves = self.Valves()

    async def paint(
        self,
        color: str = Field("#336699", pattern="^#[0-9a-fA-F]{6}$", description="As #rrggbb"),
        width: int = 64,
        height: int = 48,
        __user__: dict = None,
        __request__: Request = None,
        __event_emitter__: Any = None,
    ) -> str:
        """
        Paint a picture of one color.
        :param width: In pixels
        :param height: In pixels
        """
        side = min(self.valves.max_side, width), min(self.valves.max_side, height)
        data = await asyncio.to_thread(png, *side, tuple(bytes.fromhex(color[1:])))
        user: Optional[UserModel] = await asyncio.to_thread(Users.get_user_by_id, __user__["id"])
        encoded = f"data:image/png;base64,{base64.b64encode(data).decode()}"
        content, kind = get_image_data(encoded)
        item, url = upload_image(__request__, content, kind, {"color": color}, user)
        await __event_emitter__({"type": "files", "data": {"files": [{"type": "image", "url": url}]}})
        await __event_emitter__({"type": "message", "data": {"content": f"![{color}]({url})"}})
        file = Files.get_file_by_id(item.id)
        with open(file.path, "rb") as stored:
            size = len(stored.read())
        return f"{file.filename} {file.meta['content_type']} {size == file.meta['size']} {file.data.get('content', '')}"

    def thumbnail(self, file_id: str, __user__: dict = None, __request__: Request = None) -> dict:
        """
        Keep the first bytes of a stored picture.
        :param file_id: Which one
        """
        file = Files.get_file_by_id(file_id)
        if not file:
            return {"error": "There is no such file."}
        with open(file.path, "rb") as stored:
            head = stored.read(16)
        upload = UploadFile(filename=f"{file.filename}.head", file=io.BytesIO(head))
        return {"kept": upload_file_handler(__request__, upload, process=False).filename}
