"""Frames between a tool's process and the server: a 4-byte big-endian length, then that much JSON in UTF-8. A
frame to the server is a head, which the server parses. Most kinds add a line feed and a payload, which the
server may pass on unchanged.
"""

import json
import struct
from typing import Any, Optional

_LENGTH = struct.Struct("!I")


def encode(body: bytes) -> bytes:
    return _LENGTH.pack(len(body)) + body


def encode_json(head: dict[str, Any], payload: Optional[dict[str, Any]] = None) -> bytes:
    parts = (head,) if payload is None else (head, payload)
    return encode(b"\n".join(json.dumps(part, separators=(",", ":"), allow_nan=False).encode() for part in parts))


class Frames:
    """Splits received bytes into messages."""

    def __init__(self) -> None:
        self._held = bytearray()

    def add(self, received: bytes) -> list[Any]:
        """The messages that are now complete."""
        held = self._held
        held += received
        messages = []
        start = 0
        while len(held) - start >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(held, start)
            end = start + _LENGTH.size + length
            if len(held) < end:
                break
            messages.append(json.loads(held[start + _LENGTH.size : end]))
            start = end
        del held[:start]
        return messages
