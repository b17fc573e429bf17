"""Frames between a tool's process and the server: a 4-byte big-endian length, then that much JSON in UTF-8."""

import asyncio
import json
import struct
from typing import Any

_LENGTH = struct.Struct("!I")


def encode(body: bytes) -> bytes:
    return _LENGTH.pack(len(body)) + body


def encode_json(message: Any) -> bytes:
    return encode(json.dumps(message, separators=(",", ":"), allow_nan=False).encode())


async def read(reader: asyncio.StreamReader) -> Any:
    """The next message; raises asyncio.IncompleteReadError when the server has closed the channel."""
    (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
    return json.loads(await reader.readexactly(length))
