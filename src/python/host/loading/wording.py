"""Describes the error of a tool for the caller."""

import sys

from pydantic import ValidationError

_TEXT_CHARACTERS = 2_000
# asyncio's messages in a thread without an event loop.
_NO_LOOP = ("no running event loop", "There is no current event loop")


def describe(error: BaseException) -> str:
    """The type and text of an exception, without the paths of this machine that Python adds."""
    try:
        text = _text(error)
    except Exception:
        text = ""
    name = type(error).__name__
    return cut(f"{name}: {text}" if text else name)


def cut(text: str) -> str:
    return text if len(text) <= _TEXT_CHARACTERS else text[:_TEXT_CHARACTERS] + "…"


def _text(error: BaseException) -> str:
    if isinstance(error, ValidationError):
        # Pydantic's own text has three lines for each problem; the last is a link.
        found = error.errors(include_url=False, include_input=False, include_context=False)
        return f"{error.title}: {'; '.join(': '.join([*_path(one['loc']), one['msg']]) for one in found)}"
    text = str(error)
    if isinstance(error, ImportError) and error.path:
        return text.replace(f" ({error.path})", "")
    if isinstance(error, PermissionError) and error.errno is not None:
        return f"{text} ({_limit(error)})"
    if isinstance(error, RuntimeError) and text.startswith(_NO_LOOP):
        return f"{text.rstrip('.')} (plain methods run in threads: write `async def`, or use asyncio.run)"
    return text


def _path(parts: tuple[object, ...]) -> list[str]:
    return [".".join(map(str, parts))] if parts else []


def _limit(error: PermissionError) -> str:
    """The layer of protection that probably caused the error: the system reports only that the operation was
    not permitted.
    """
    if error.filename is None:
        return "a tool takes no port, and has no Unix sockets, shared memory or locks between processes"
    if error.filename == sys.executable:
        return "a tool cannot start the server's Python; name packages in the requirements of the frontmatter"
    return "a tool writes in its working folder only, and reads that and the system's libraries"
