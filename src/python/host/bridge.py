"""What the stand-ins of `open_webui` ask of the server: always as the caller of the function that runs, and never more than they may."""

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
    folder: str  # For what is brought to the function. It need not be there yet, and is gone with the call.


caller: contextvars.ContextVar[Optional[Caller]] = contextvars.ContextVar("caller", default=None)


def call(operation: str, **values: Any) -> Any:
    """The server's answer. Raises RuntimeError with its reason."""
    return _current(operation).request(operation, values)


def folder() -> str:
    """For what is brought to the function that runs. Nothing of it stays for the calls of others."""
    return _current("a file").folder


def require_caller(user: Any) -> None:
    """Published tools hand over the user that they act for. Raises PermissionError unless that is the caller, or nobody."""
    named = user.get("id") if isinstance(user, dict) else getattr(user, "id", None)
    if named is not None and named != _current("this").user.get("id"):
        raise PermissionError("a tool acts for the person who calls it, and for no other person")


def _current(what: str) -> Caller:
    current = caller.get()
    if current is None:
        raise RuntimeError(f"{what} can be asked of the server only while a function of the tool runs, and in its own threads")
    return current


class NotOffered(NotImplementedError):
    """Something that comparable systems have and this server does not."""


def not_offered(name: str) -> Any:
    """A function that says so."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise NotOffered(f"{name} is not offered by this server")

    refuse.__name__ = refuse.__qualname__ = name.rpartition(".")[2]
    return refuse


class NothingOf:
    """A class of which nothing is offered: it can be imported, and whatever is used of it says so."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return not_offered(f"{self._name}.{name}")


class Awaitable:
    """For what some versions of comparable systems return at once and others as a coroutine: `await` gives it too."""

    # `asyncio.gather` puts what it is given into a dictionary.
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
    """
    Lets a function be called as it is and with `await` before it: published tools do either, by the version that they were written
    for. Lists and tuples can be awaited, as models can. Nothing else than None is None, so there it is the caller's code that tells.
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
    """Whether what is called from there is awaited at once: that is the next thing the code does with it."""
    code, at = frame.f_code.co_code, frame.f_lasti + 2
    # Some versions of Python keep notes behind an instruction. A call is never the last one.
    while code[at] == _CACHE:
        at += 2
    return code[at] == _AWAIT
