"""Reports of the fork server to the server, as JSON lines on its standard output."""

import json
import os
import resource
import signal
import sys
from typing import Any, Optional


def send(message: dict[str, Any]) -> None:
    try:
        os.write(1, json.dumps(message).encode() + b"\n")
    except BrokenPipeError:
        pass  # The server has ended; the end of input follows.


def end(number: int, status: int, usage: resource.struct_rusage, exceeded: Optional[str]) -> None:
    """The end of a process, with the resources used since its fork by it and by the children that it waited
    for.
    """
    code = os.waitstatus_to_exitcode(status)
    taken = {
        "cpu_ms": (usage.ru_utime + usage.ru_stime) * 1000,
        "peak_memory_bytes": usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
    }
    ended = {"code": code if code >= 0 else None, "signal": _signal_name(-code) if code < 0 else None}
    send({"kind": "ended", "number": number, **ended, "exceeded": exceeded, "usage": taken})


def _signal_name(number: int) -> Optional[str]:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"
