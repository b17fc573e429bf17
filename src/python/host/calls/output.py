"""What a call returns: its result, and the end of what it printed."""

import contextvars
import io
from typing import Any, Optional

from loading.tool import CallError
from loading.wording import cut, describe
from pydantic_core import PydanticSerializationError, to_json

_OUTPUT_CHARACTERS = 8_192
_RESULT_BYTES = 8 * 1024 * 1024

# The printed parts of the current call.
printed: contextvars.ContextVar[Optional[list[str]]] = contextvars.ContextVar("printed", default=None)


class Output(io.TextIOWrapper):
    """The end of the printed output of a call; the file below is /dev/null."""

    def __init__(self) -> None:
        super().__init__(open("/dev/null", "wb"), encoding="utf-8", errors="replace")

    def write(self, text: str) -> int:
        parts = printed.get()
        if parts is not None:
            parts[:] = ["".join((*parts, text[-_OUTPUT_CHARACTERS:]))[-_OUTPUT_CHARACTERS:]]
        return len(text)


# Made once, in the process from which tools are forked.
OUTPUTS = (Output(), Output())


def text_of(parts: list[str]) -> str:
    """The printed parts as one text. A lone surrogate, as in file names and scraped texts, has no JSON form: a
    question mark replaces it.
    """
    return "".join(parts).encode(errors="replace").decode()


def encode(result: Any) -> bytes:
    """A result as JSON. Raises CallError."""
    try:
        body = to_json(result, inf_nan_mode="null", fallback=_plain)
    except (PydanticSerializationError, ValueError, TypeError, RecursionError, MemoryError) as error:
        kind = type(result).__name__
        reason = str(error).removeprefix("Error serializing to JSON: ")
        raise CallError("tool_raised", f"The result ({kind}) has no JSON form: {cut(reason)}") from None
    except BaseException as error:
        raise CallError("tool_raised", describe(error)) from None
    if len(body) > _RESULT_BYTES:
        raise CallError("tool_raised", f"The result has {len(body)} bytes; at most {_RESULT_BYTES} are allowed.")
    return body


def _plain(value: Any) -> Any:
    """Converts numbers and arrays of NumPy, and structures of them, to Python values. Raises TypeError for
    all other values.
    """
    if not callable(getattr(type(value), "tolist", None)):
        raise TypeError(f"unknown type {type(value)}")
    return value.tolist()
