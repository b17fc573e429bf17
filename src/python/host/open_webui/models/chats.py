"""This server keeps conversations as messages of channels, and has no chats."""

import bridge

__all__ = ["Chats"]

Chats = bridge.NothingOf("Chats")
