"""The system calls that a tool is refused: calls that get around the other layers to processes, sockets and
files of others, and calls that take uncounted memory. The program for the kernel's seccomp is built once
and is the same for every tool.
"""

import ctypes
import functools
import platform
import struct
from typing import Optional

from walls import fence

_LOAD, _EQUAL, _AT_LEAST, _ANY_OF, _AND, _ANSWER = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _END, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS, _EPROTONOSUPPORT, _EOPNOTSUPP = 1, 38, 93, 95

_Body = tuple[bytes, ...]


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)


def _argument(index: int) -> bytes:
    """The lower half of an argument, which holds an int. The layout is that of struct seccomp_data on
    little-endian processors.
    """
    return _step(_LOAD, 16 + 8 * index)


def _fail(error: int) -> bytes:
    return _step(_ANSWER, _ERROR | error)


_GO_ON = _step(_ANSWER, _ALLOW)
_REFUSE, _NO_PROTOCOL = _fail(_EPERM), _fail(_EPROTONOSUPPORT)
# Returns success without running the call.
_PRETEND = _fail(0)
_ABSENT = _fail(_ENOSYS)
_UNSUPPORTED = _fail(_EOPNOTSUPP)


def _unless(answer: bytes, *values: int) -> _Body:
    """Returns the answer, or continues when the loaded value is among the values."""
    return (*(_step(_EQUAL, value, len(values) - index) for index, value in enumerate(values)), answer)


# Architecture number of the kernel's audit interface, and the numbers of calls there.
_ARCHITECTURES = {
    "x86_64": (0xC000003E, {
        "ioctl": 16, "socket": 41, "listen": 50, "socketpair": 53, "setsockopt": 54, "clone": 56, "prlimit64": 302,
        "open": 2, "openat": 257, "truncate": 76,
        "ptrace": 101, "keyctl": 250, "add_key": 248, "request_key": 249, "unshare": 272, "setns": 308, "bpf": 321,
        "userfaultfd": 323, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "perf_event_open": 298,
        "setpriority": 141, "sched_setparam": 142, "sched_setscheduler": 144, "sched_setaffinity": 203,
        "sched_setattr": 314, "setsid": 112, "ioprio_set": 251, "migrate_pages": 256, "move_pages": 279,
        "shmget": 29, "shmat": 30, "shmctl": 31, "semget": 64, "semctl": 66, "msgget": 68, "msgctl": 71,
        "mq_open": 240, "memfd_create": 319, "fallocate": 285,
        "inotify_add_watch": 254, "fanotify_init": 300, "open_by_handle_at": 304,
    }, (90, 91, 268, 92, 93, 94, 260, 132, 235, 261, 280, 188, 189, 190, 197, 198, 199)),
    "aarch64": (0xC00000B7, {
        "ioctl": 29, "socket": 198, "listen": 201, "socketpair": 199, "setsockopt": 208, "clone": 220, "prlimit64": 261,
        "openat": 56, "truncate": 45,
        "ptrace": 117, "keyctl": 219, "add_key": 217, "request_key": 218, "unshare": 97, "setns": 268, "bpf": 280,
        "userfaultfd": 282, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272, "perf_event_open": 241,
        "setpriority": 140, "sched_setparam": 118, "sched_setscheduler": 119, "sched_setaffinity": 122,
        "sched_setattr": 274, "setsid": 157, "ioprio_set": 30, "migrate_pages": 238, "move_pages": 239,
        "shmget": 194, "shmat": 196, "shmctl": 195, "semget": 190, "semctl": 191, "msgget": 186, "msgctl": 187,
        "mq_open": 180, "memfd_create": 279, "fallocate": 47,
        "inotify_add_watch": 27, "fanotify_init": 262, "open_by_handle_at": 265,
    }, (52, 53, 55, 54, 88, 5, 6, 7, 14, 15, 16)),
}  # fmt: skip
# Calls with the same number on every architecture: io_uring_setup (no filter sees its operations),
# pidfd_getfd, process_madvise and memfd_secret.
_REFUSED_EVERYWHERE = (425, 438, 440, 447)
# Calls that change modes, owners, times and attributes of files (the numbers above, and fchmodat2,
# setxattrat, removexattrat and file_setattr everywhere). Landlock does not cover them, so a tool of an
# ordinary user could open the server's own files to others. Copying functions use these calls and must not
# fail.
_PRETENDED_EVERYWHERE = (452, 463, 466, 469)
# The flags are in memory, where no filter sees them. When the call is reported as absent, the C library uses
# the older call.
_CLONE3, _OPENAT2 = 435, 437
# All flags that make a namespace: in its own namespace a tool would be root, and would reach parts of the
# kernel that its user cannot.
_NAMESPACES = 0x7E020000
_X32_BIT = 0x40000000

_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_STREAM, _KIND_OF_SOCKET = 1, 0xF
_ICMP, _TCP, _UDP, _ICMP6 = 1, 6, 17, 58
_SOL_SOCKET, _BUFFER_SIZES = 1, (7, 8, 32, 33)
# FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR and FS_IOC_ENABLE_VERITY, which need a file open only for reading.
_ATTRIBUTES = (0x40086602, 0x401C5820, 0x40806685)
# FS_IOC_RESVSP, FS_IOC_RESVSP64 and FS_IOC_ZERO_RANGE, which do what `fallocate` does.
_ALLOCATES = (0x40305828, 0x4030582A, 0x40305839)
_TRUNCATES, _ACCESS, _TO_WRITE = 0x200, 0x3, (1, 2)

# Calls that are decided by their arguments, by name.
_JUDGED: dict[str, _Body] = {
    "clone": (_argument(0), _step(_ANY_OF, _NAMESPACES, 0, 1), _REFUSE, _GO_ON),
    # A tool may lower the limits of its own process (0), and may not set those of another.
    "prlimit64": (_argument(0), *_unless(_REFUSE, 0), _GO_ON),
    # Allowed are internet sockets, and the netlink sockets by which the C library reads addresses and names
    # of interfaces. Unix sockets are refused: Landlock does not cover connections to them, and the database,
    # Docker and the session bus listen on such sockets. Only protocols that Landlock's port rules cover are
    # allowed: MPTCP would get around them.
    "socket": (
        _argument(0),
        _step(_EQUAL, _NETLINK, 0, 4), _argument(2), *_unless(_REFUSE, 0), _GO_ON,
        *_unless(_REFUSE, _INET, _INET6),
        _argument(2), *_unless(_NO_PROTOCOL, 0, _TCP, _UDP, _ICMP, _ICMP6), _GO_ON,
    ),
    # A datagram socket can send to any Unix socket with a path, and can take the abstract names by which the
    # users of tools are claimed.
    "socketpair": (
        _argument(0), *_unless(_REFUSE, _UNIX),
        _argument(1), _step(_AND, _KIND_OF_SOCKET), *_unless(_REFUSE, _STREAM), _GO_ON,
    ),
    # Buffers keep the system's size, which the watch counts for each socket.
    "setsockopt": (
        _argument(1), _step(_EQUAL, _SOL_SOCKET, 1), _GO_ON,
        _argument(2), *_unless(_GO_ON, *_BUFFER_SIZES), _PRETEND,
    ),
    "ioctl": (
        _argument(1), *(_step(_EQUAL, value, len(_ALLOCATES) - index + len(_ATTRIBUTES) + 1) for index, value in enumerate(_ALLOCATES)),
        *_unless(_GO_ON, *_ATTRIBUTES), _PRETEND, _UNSUPPORTED,
    ),
    # One call could fill a disk before the next check. The C library writes instead.
    "fallocate": (_UNSUPPORTED,),
}  # fmt: skip
# Before its third version, Landlock checks an open that truncates a file only for its other access rights.
_EMPTIED = (_step(_ANY_OF, _TRUNCATES, 1), _GO_ON, _step(_AND, _ACCESS), *_unless(_REFUSE, *_TO_WRITE), _GO_ON)
_EMPTYING: dict[str, _Body] = {
    "truncate": (_REFUSE,),
    "open": (_argument(1), *_EMPTIED),
    "openat": (_argument(2), *_EMPTIED),
    "openat2": (_ABSENT,),
}


class Program(ctypes.Structure):
    """The struct that the kernel expects."""

    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def is_known() -> bool:
    """Whether a filter exists for this processor."""
    return platform.machine() in _ARCHITECTURES


@functools.cache
def program(landlock: int) -> Optional[Program]:
    """The program for a kernel with that version of Landlock; None for an unknown processor."""
    if not is_known():
        return None
    architecture, numbers, pretended = _ARCHITECTURES[platform.machine()]
    rules = dict.fromkeys(_REFUSED_EVERYWHERE, (_REFUSE,)) | dict.fromkeys((*_PRETENDED_EVERYWHERE, *pretended), (_PRETEND,))
    rules[_CLONE3] = (_ABSENT,)
    for name, number in {**numbers, "openat2": _OPENAT2}.items():
        if name not in _EMPTYING:
            rules[number] = _JUDGED.get(name, (_REFUSE,))
        elif 0 < landlock < fence.TRUNCATION:
            rules[number] = _EMPTYING[name]
    steps = _assemble(architecture, rules)
    return Program(len(steps), b"".join(steps))


def _assemble(architecture: int, rules: dict[int, _Body]) -> list[bytes]:
    """One comparison for each number, so that the kernel's precomputed table for each process stays small.
    Equal bodies are stored once.
    """
    # Offsets into struct seccomp_data: 0 the number, 4 the architecture.
    start = [_step(_LOAD, 4), _step(_EQUAL, architecture, 1), _step(_ANSWER, _END), _step(_LOAD, 0)]
    start += [_step(_AT_LEAST, _X32_BIT, 0, 1), _REFUSE]
    comparisons: list[bytes] = []
    bodies: list[bytes] = []
    places: dict[_Body, int] = {}
    for number, body in rules.items():
        if body not in places:
            places[body] = len(bodies)
            bodies += body
        comparisons.append(_step(_EQUAL, number, len(rules) - len(comparisons) + places[body]))
    return [*start, *comparisons, _GO_ON, *bodies]
