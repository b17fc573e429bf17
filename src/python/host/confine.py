"""
What a tool's process gives up before it reads a line of the tool: rights, files, sockets, resources. Every layer
stands alone, so that a system without one of them still has the others; `missing()` names those that are absent.
"""

import contextlib
import ctypes
import functools
import os
import platform
import resource
import signal
import socket
import struct
import sys
from dataclasses import dataclass
from typing import Iterable, Optional

import fence

LINUX = sys.platform == "linux"

# Once, in the process that tools are forked from: what each works out for itself is memory of its own.
_LIBC = ctypes.CDLL(None, use_errno=True)

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_SECCOMP = 22
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2

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


def missing() -> list[str]:
    """The layers that this system does not offer, in words."""
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
        absent.append("Linux before 6.7: tools can listen on free TCP ports")
    if not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
        absent.append("no lists of child processes in /proc: memory is limited for each process of a tool, not for all together")
    if version < fence.SCOPES and os.geteuid() != 0:
        absent.append("Linux before 6.12, not started as root: tools can signal other processes of the server's user")
    if platform.machine() not in _SYSCALLS:
        absent.append("no system call filter for this processor")
    return absent


def warm(readable: Iterable[str]) -> None:
    """Works out what is the same for every tool, in the process that they are forked from. `readable`: folders, for all of them."""
    if LINUX:
        _filter_program()
        fence.warm(readable)


def become_subreaper() -> None:
    """Processes that a tool leaves behind become children of the caller, who can then end them."""
    if LINUX:
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)


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
    if LINUX:
        # After the change of user, which clears it. A parent that died in between has handed us to another.
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        _prctl(_PR_SET_DUMPABLE, 0)
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        fence.close(scratch, readable)
        _filter_system_calls()


def allow_cpu(seconds: int) -> None:
    """CPU seconds that the process may use from now on: a thread left behind by a call must not burn for ever."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    used = int(usage.ru_utime + usage.ru_stime) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (used + seconds, resource.RLIM_INFINITY))


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


# Architecture number of the kernel's audit interface, and the system calls that no tool needs: those that reach other
# processes past Landlock and the user, and memory that no limit of a process counts.
_SYSCALLS = {
    "x86_64": (0xC000003E, {
        "socket": 41, "prlimit64": 302, "clone": 56,
        "ptrace": 101, "keyctl": 250, "add_key": 248, "request_key": 249, "unshare": 272, "setns": 308, "bpf": 321,
        "userfaultfd": 323, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312,
        "setpriority": 141, "sched_setparam": 142, "sched_setscheduler": 144, "sched_setaffinity": 203,
        "sched_setattr": 314, "setsid": 112, "ioprio_set": 251, "migrate_pages": 256, "move_pages": 279,
        "shmget": 29, "shmat": 30, "shmctl": 31, "semget": 64, "semctl": 66, "msgget": 68, "msgctl": 71,
        "mq_open": 240, "memfd_create": 319,
    }, (90, 91, 268, 92, 93, 94, 260, 132, 235, 261, 280, 188, 189, 190)),
    "aarch64": (0xC00000B7, {
        "socket": 198, "prlimit64": 261, "clone": 220,
        "ptrace": 117, "keyctl": 219, "add_key": 217, "request_key": 218, "unshare": 97, "setns": 268, "bpf": 280,
        "userfaultfd": 282, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272,
        "setpriority": 140, "sched_setparam": 118, "sched_setscheduler": 119, "sched_setaffinity": 122,
        "sched_setattr": 274, "setsid": 157, "ioprio_set": 30, "migrate_pages": 238, "move_pages": 239,
        "shmget": 194, "shmat": 196, "shmctl": 195, "semget": 190, "semctl": 191, "msgget": 186, "msgctl": 187,
        "mq_open": 180, "memfd_create": 279,
    }, (52, 53, 55, 54, 88, 5, 6, 7)),
}  # fmt: skip
# The same everywhere: io_uring_setup, whose operations pass by every filter, pidfd_getfd and process_madvise.
_REFUSED_EVERYWHERE = (425, 438, 440)
_FCHMODAT2 = 452
# Its flags lie in memory, where no filter sees them. Told that it is not there, the C library takes the older call.
_CLONE3 = 435
# All that make a namespace: in one of its own a tool would be root, and reach parts of the kernel that its user cannot.
_NAMESPACES = 0x7E020000
_X32_BIT = 0x40000000


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def _filter_system_calls() -> None:
    """
    Refuses what would reach around the other layers. Landlock does not cover connections to Unix sockets: without
    this, a tool of an ordinary user could speak to the database, to Docker or to the session bus.
    """
    program = _filter_program()
    if program is not None:
        _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(program))


@functools.cache
def _filter_program() -> Optional[_Program]:
    """None for a processor that is not known."""
    if platform.machine() not in _SYSCALLS:
        return None
    # The third are the calls that change modes, owners, times and attributes of files. Landlock does not cover them, so a tool
    # of an ordinary user could open the server's own files to others. Copying functions use them and must not fail.
    architecture, numbers, pretended = _SYSCALLS[platform.machine()]
    load, equal, at_least, any_of, answer = 0x20, 0x15, 0x35, 0x45, 0x06
    allow, refuse, pretend, absent, end = 0x7FFF0000, 0x00050001, 0x00050000, 0x00050026, 0x80000000

    def step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
        return struct.pack("HBBI", code, if_true, if_false, value)

    # Offsets into struct seccomp_data: 0 number, 4 architecture, 16 first argument (little endian).
    program = [step(load, 4), step(equal, architecture, 1, 0), step(answer, end), step(load, 0)]
    program += [step(at_least, _X32_BIT, 0, 1), step(answer, refuse)]
    judged = ("socket", "prlimit64", "clone")
    for number in (*_REFUSED_EVERYWHERE, *(n for name, n in numbers.items() if name not in judged)):
        program += [step(equal, number, 0, 1), step(answer, refuse)]
    for number in (_FCHMODAT2, *pretended):
        program += [step(equal, number, 0, 1), step(answer, pretend)]
    program += [step(equal, _CLONE3, 0, 1), step(answer, absent)]
    program += [step(equal, numbers["clone"], 0, 4), step(load, 16), step(any_of, _NAMESPACES, 0, 1), step(answer, refuse)]
    program += [step(answer, allow)]
    # Limits of this process (0) may be lowered; those of another are not a tool's to set.
    program += [step(equal, numbers["prlimit64"], 0, 4), step(load, 16), step(equal, 0, 1, 0), step(answer, refuse)]
    program += [step(answer, allow)]
    program += [step(equal, numbers["socket"], 0, 3), step(load, 16), step(equal, 1, 0, 1), step(answer, refuse)]
    program += [step(answer, allow)]
    return _Program(len(program), b"".join(program))


def _prctl(option: int, first: int, second: int = 0) -> None:
    if _LIBC.prctl(ctypes.c_int(option), ctypes.c_ulong(first), ctypes.c_ulong(second), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
