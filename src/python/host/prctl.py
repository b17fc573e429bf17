"""What a process asks the kernel to do for it. Linux only; elsewhere nothing is asked."""

import ctypes
import os
import signal
import sys

LINUX = sys.platform == "linux"

# Once, in the process that tools are forked from: what each works out for itself is memory of its own.
_LIBC = ctypes.CDLL(None, use_errno=True)

_PDEATHSIG = 1
_DUMPABLE = 4
_SECCOMP = 22
_CHILD_SUBREAPER = 36
_NO_NEW_PRIVS = 38
_FILTER = 2


def become_subreaper() -> None:
    """Processes that a descendant leaves behind become children of the caller, who can then end them."""
    _ask(_CHILD_SUBREAPER, 1)


def end_with(parent: int) -> None:
    """Has this process end when its parent ends."""
    _ask(_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)  # It ended in between, and has handed us to another.


def close_proc() -> None:
    """Nobody but root reads the memory and environment of this process."""
    _ask(_DUMPABLE, 0)


def gain_nothing() -> None:
    """No program that is started has more rights than this process."""
    _ask(_NO_NEW_PRIVS, 1)


def filter_calls(program: ctypes.Structure) -> None:
    _ask(_SECCOMP, _FILTER, ctypes.addressof(program))


def _ask(option: int, first: int, second: int = 0) -> None:
    if LINUX and _LIBC.prctl(ctypes.c_int(option), ctypes.c_ulong(first), ctypes.c_ulong(second), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
