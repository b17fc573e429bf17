"""Requests of the `open_webui` stand-ins to the server: always as the caller of the running function, and
with no more rights than the caller has.
"""

import contextvars
import dis
import functools
import sys
from dataclasses import dataclass
from types import FrameType
from typing import Any, Callable, Optional


@dataclass(frozen=True)
class Caller:
    request: Callable[[str, Any], Any]
    user: dict[str, Any]
    folder: str  # Files for the function go here. Made at first use, removed with the call.


caller: contextvars.ContextVar[Optional[Caller]] = contextvars.ContextVar("caller", default=None)


def call(operation: str, **values: Any) -> Any:
    """The server's answer. Raises RuntimeError with its reason."""
    return _current(operation).request(operation, values)


def folder() -> str:
    """The folder for files of this call; calls do not share it."""
    return _current("a file").folder


def require_caller(user: Any) -> None:
    """Published tools pass the user that they act for. Raises PermissionError unless that is the caller or
    None.
    """
    named = user.get("id") if isinstance(user, dict) else getattr(user, "id", None)
    if named is not None and named != _current("this").user.get("id"):
        raise PermissionError("a tool acts for the person who calls it, and for no other person")


def _current(what: str) -> Caller:
    current = caller.get()
    if current is None:
        raise RuntimeError(f"{what} can be asked of the server only while a function of the tool runs, and in its own threads")
    return current


class NotOffered(NotImplementedError):
    """A feature that comparable systems have and this server lacks."""


def not_offered(name: str) -> Any:
    """A function that raises NotOffered."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise NotOffered(f"{name} is not offered by this server")

    refuse.__name__ = refuse.__qualname__ = name.rpartition(".")[2]
    return refuse


class NothingOf:
    """A class that can be imported; each use of it raises NotOffered."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return not_offered(f"{self._name}.{name}")


class Awaitable:
    """A result that some versions of comparable systems return directly and others as a coroutine: `await`
    returns it too.
    """

    # `asyncio.gather` uses its arguments as dictionary keys.
    __hash__ = object.__hash__

    def __await__(self) -> Any:
        return self
        yield


class _List(Awaitable, list[Any]):
    pass


class _Tuple(Awaitable, tuple[Any, ...]):
    pass


class _Nothing:
    def __await__(self) -> Any:
        return None
        yield


def awaitable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Makes the result of a function awaitable: published tools call it with or without `await`, depending on
    the version that they were written for. Lists, tuples and models can be made awaitable. None cannot, so
    there the caller's code decides.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        if result is None:
            return _Nothing() if _is_awaiting(sys._getframe(1)) else None
        return _List(result) if type(result) is list else _Tuple(result) if type(result) is tuple else result

    return call


_AWAIT, _CACHE = dis.opmap["GET_AWAITABLE"], dis.opmap.get("CACHE", -1)


def _is_awaiting(frame: FrameType) -> bool:
    """Whether the caller's next instruction awaits the result."""
    code, at = frame.f_code.co_code, frame.f_lasti + 2
    # Some versions of Python place caches after an instruction. A call is never the last instruction.
    while code[at] == _CACHE:
        at += 2
    return code[at] == _AWAIT
