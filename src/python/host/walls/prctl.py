"""Requests of a process to the kernel. Linux only; on other systems the functions do nothing."""

import ctypes
import os
import signal
import sys

LINUX = sys.platform == "linux"

# Loaded once, in the process from which tools are forked: what each tool computes is memory of its own.
_LIBC = ctypes.CDLL(None, use_errno=True)

_PDEATHSIG = 1
_DUMPABLE = 4
_SECCOMP = 22
_CHILD_SUBREAPER = 36
_NO_NEW_PRIVS = 38
_FILTER = 2


def become_subreaper() -> None:
    """Orphaned descendants become children of the caller, which can then end them."""
    _ask(_CHILD_SUBREAPER, 1)


def end_with(parent: int) -> None:
    """Ends this process when its parent ends."""
    _ask(_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)  # The parent ended in between, so another process has adopted this one.


def close_proc() -> None:
    """Only root can read the memory and environment of this process."""
    _ask(_DUMPABLE, 0)


def gain_nothing() -> None:
    """No started program has more rights than this process."""
    _ask(_NO_NEW_PRIVS, 1)


def filter_calls(program: ctypes.Structure) -> None:
    _ask(_SECCOMP, _FILTER, ctypes.addressof(program))


def _ask(option: int, first: int, second: int = 0) -> None:
    if LINUX and _LIBC.prctl(ctypes.c_int(option), ctypes.c_ulong(first), ctypes.c_ulong(second), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
