"""What a tool's process gives up before it reads a line of the tool: rights, files, sockets, resources. Each
layer works alone, so a system that lacks one still has the others. `missing()` names the absent layers.
"""

import contextlib
import os
import resource
import signal
import socket
from dataclasses import dataclass
from typing import Iterable, Optional

from walls import calls_filter, fence, prctl
from walls.prctl import LINUX

# Only tools use these ids. Below are ids of accounts, and those that systemd maps into containers and gives
# to greeters of displays; above are those that systemd gives to services without an account.
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
    """Claims an unprivileged user that no other tool of this machine has: killing by user and counting by
    user rely on that. The claim is an abstract socket: the kernel gives a name once and frees it when its
    holder ends. Linux only.
    """
    # Each fork server begins elsewhere, so that several on one machine seldom use a user one after the other.
    for attempt in range(_UIDS):
        uid = _FIRST_UID + (os.getpid() + number + attempt) % _UIDS
        claim = claim_of(uid)
        if claim is not None:
            return uid, claim
    raise OSError("no unprivileged user is free")


def claim_of(uid: int) -> Optional[socket.socket]:
    """The claim on one user; None while another process holds it."""
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claim.bind(f"\0parley-tool-user-{uid}")
        return claim
    except OSError:
        claim.close()
        return None


def missing(is_mounted: bool) -> list[str]:
    """The layers that this system lacks, in words. `is_mounted`: each tool gets its own file system."""
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
    """Computes what is the same for every tool, in the process from which tools are forked. `readable`:
    folders that all tools may read.
    """
    if LINUX:
        calls_filter.program(fence.version())
        fence.warm(readable)


def confine(scratch: str, uid: Optional[int], readable: Iterable[str], limits: Limits) -> None:
    """Confines this process and all processes that it starts, irrevocably. `readable`: folders beside those
    for all tools. Raises OSError when a mandatory step fails.
    """
    parent = os.getppid()
    _limit_resources(limits, alone=uid is not None)
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        _end_others()
    if LINUX:
        # After the change of user, because that change clears this setting.
        prctl.end_with(parent)
        prctl.close_proc()
        prctl.gain_nothing()
        fence.close(scratch, readable)
        program = calls_filter.program(fence.version())
        if program is not None:
            prctl.filter_calls(program)


def allow_cpu(seconds: int) -> None:
    """CPU seconds that the process may use from now on, so that a thread which a call left behind does not
    run for ever. This stops harmless tools only: a hostile tool can raise the limit, and child processes
    count separately, so the watch counts too.
    """
    usage = resource.getrusage(resource.RUSAGE_SELF)
    used = int(usage.ru_utime + usage.ru_stime) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (used + seconds, resource.RLIM_INFINITY))


def _end_others() -> None:
    """Ends other processes of this user: they outlived a fork server that could not end them, and do not
    belong to this tool.
    """
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

    # Even eight tools that spin on the server's core take little from it. Where the kernel first shares the
    # processor between sessions (autogroups), niceness counts only within a session: a tool has its own
    # session, and `calls_filter` refuses it another.
    os.nice(15)
    with contextlib.suppress(OSError):
        _set("/proc/self/autogroup", b"10")
    limit("RLIMIT_CORE", 0)
    limit("RLIMIT_MEMLOCK", 0)
    limit("RLIMIT_FSIZE", limits.file_bytes)
    limit("RLIMIT_NOFILE", limits.open_files)
    # The system counts per user. Other processes of an ordinary user count too, hence the allowance. Some
    # must be left for other tools until a tool with too many processes is ended.
    limit("RLIMIT_NPROC", limits.processes if alone else limits.processes * 2 + _count_tasks(os.getuid()))
    allow_cpu(limits.cpu_seconds)
    if LINUX:
        limit("RLIMIT_DATA", limits.memory_bytes)
        # Address space includes memory that costs nothing (libraries, reserved arenas, stacks), and shared
        # memory.
        limit("RLIMIT_AS", limits.memory_bytes * 2)
        _set("/proc/self/oom_score_adj", b"1000")


def _set(path: str, value: bytes) -> None:
    """Writes a system file without Python's file objects, which cost a tool memory of its own."""
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
            continue  # The process has ended meanwhile.
    return count
