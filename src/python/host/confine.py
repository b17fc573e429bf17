"""
What a tool's process gives up before it reads a line of the tool: rights, files, sockets, resources. Every layer
stands alone, so that a system without one of them still has the others; `missing()` names those that are absent.
"""

import contextlib
import os
import resource
import signal
import socket
from dataclasses import dataclass
from typing import Iterable, Optional

import calls_filter
import fence
import prctl
from prctl import LINUX

# Only these ids are ever used for tools. Nobody else has them: below are those of accounts, and of what systemd maps into
# containers and gives to the greeters of displays; above, those that it gives to services without an account.
_FIRST_UID, _UIDS = 60706, 478


@dataclass(frozen=True)
class Limits:
    memory_bytes: int
    file_bytes: int
    open_files: int
    processes: int
    cpu_seconds: int
    scratch_bytes: int
    scratch_files: int


def claim_uid(number: int) -> "tuple[int, socket.socket]":
    """
    An unprivileged user that no other tool of this machine has: killing by user and counting by user rely on that.
    The claim is an abstract socket, which the kernel gives once and takes back when its holder ends. Linux only.
    """
    for attempt in range(_UIDS):
        uid = _FIRST_UID + (number + attempt) % _UIDS
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            claim.bind(f"\0parley-tool-user-{uid}")
            return uid, claim
        except OSError:
            claim.close()
    raise OSError("no unprivileged user is free")


def missing(is_mounted: bool) -> list[str]:
    """The layers that this system does not offer, in words. `is_mounted`: tools get file systems of their own."""
    if not LINUX:
        return [
            "files and sockets of the server are not closed off on this system",
            "memory of tools is not limited on this system",
        ]
    absent = []
    version = fence.version()
    if version == 0:
        absent.append("no Landlock (Linux 5.13 or newer with landlock among its lsm): tools can read files as their user can")
    elif version < fence.PORTS:
        absent.append("Linux before 6.7: tools can take free TCP ports")
    if not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
        absent.append("no lists of child processes in /proc: memory is limited for each process of a tool, not for all together")
    if version < fence.SCOPES and os.geteuid() != 0:
        absent.append("Linux before 6.12, not started as root: tools can signal other processes of the server's user")
    if not calls_filter.is_known():
        absent.append("no system call filter for this processor")
        if 0 < version < fence.TRUNCATION:
            absent.append("Linux before 6.2: tools can empty files that their user may write to")
    if not is_mounted:
        absent.append("no right to mount (root has it): files that tools hide count when the disk runs low, and not before")
    return absent


def warm(readable: Iterable[str]) -> None:
    """Works out what is the same for every tool, in the process that they are forked from. `readable`: folders, for all of them."""
    if LINUX:
        calls_filter.program(fence.version())
        fence.warm(readable)


def confine(scratch: str, uid: Optional[int], readable: Iterable[str], limits: Limits) -> None:
    """
    Irrevocable, for this process and all that it starts. `readable`: folders besides those for all. Raises OSError when a step that
    must work does not.
    """
    parent = os.getppid()
    _limit_resources(limits, alone=uid is not None)
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        _end_others()
    if LINUX:
        # After the change of user, which clears it.
        prctl.end_with(parent)
        prctl.close_proc()
        prctl.gain_nothing()
        fence.close(scratch, readable)
        program = calls_filter.program(fence.version())
        if program is not None:
            prctl.filter_calls(program)


def allow_cpu(seconds: int) -> None:
    """
    CPU seconds that the process may use from now on: a thread left behind by a call must not burn for ever. This tells one that means
    no harm; a hostile one can raise it again, and what it has started counts for itself, so the watch counts too.
    """
    usage = resource.getrusage(resource.RUSAGE_SELF)
    used = int(usage.ru_utime + usage.ru_stime) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (used + seconds, resource.RLIM_INFINITY))


def _end_others() -> None:
    """Processes of this user but this one: they outlived a fork server that had no time to end them, and are strangers to this tool."""
    if os.getuid() == 0:
        raise OSError("root's processes are not a tool's")
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)


def _limit_resources(limits: Limits, alone: bool) -> None:
    def limit(name: str, value: int) -> None:
        number = getattr(resource, name, None)
        if number is not None:
            hard = resource.getrlimit(number)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(number, (value, value))

    # Also the eighth tool that spins on the core of the server takes little from it. Where the kernel shares the processor
    # between sessions first (autogroups), niceness counts within one only: a tool has its own, and the filter below refuses it another.
    os.nice(15)
    with contextlib.suppress(OSError):
        _set("/proc/self/autogroup", b"10")
    limit("RLIMIT_CORE", 0)
    limit("RLIMIT_MEMLOCK", 0)
    limit("RLIMIT_FSIZE", limits.file_bytes)
    limit("RLIMIT_NOFILE", limits.open_files)
    # The system counts per user. An ordinary user's other processes count too, hence the allowance; and there must be some left for
    # other tools until one that takes too many is ended for it.
    limit("RLIMIT_NPROC", limits.processes if alone else limits.processes * 2 + _count_tasks(os.getuid()))
    allow_cpu(limits.cpu_seconds)
    if LINUX:
        limit("RLIMIT_DATA", limits.memory_bytes)
        # Address space also holds what costs nothing (libraries, reserved arenas, stacks), and shared memory.
        limit("RLIMIT_AS", limits.memory_bytes * 2)
        _set("/proc/self/oom_score_adj", b"1000")


def _set(path: str, value: bytes) -> None:
    """Of the system's own files. Without Python's layers over a file, which cost a tool memory of its own."""
    file = os.open(path, os.O_WRONLY)
    try:
        os.write(file, value)
    finally:
        os.close(file)


def _count_tasks(uid: int) -> int:
    count = 0
    for name in os.listdir("/proc") if LINUX else ():
        try:
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == uid:
                count += len(os.listdir(f"/proc/{name}/task"))
        except OSError:
            continue  # It ended meanwhile.
    return count
