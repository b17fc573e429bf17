"""Landlock: restricts the files that a tool reaches, TCP ports and signals. On a kernel without Landlock this
module does nothing, and `version()` is 0.
"""

import ctypes
import functools
import os
import stat
from typing import Any, Iterable, Optional

# The first versions of the kernel's interface that also restrict truncation, TCP ports, and signals.
TRUNCATION, PORTS, SCOPES = 3, 4, 6

# Not all of /usr: containers keep their application, data included, in /usr/src or /usr/local.
_FOLDERS = (
    "/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/libexec", "/usr/bin", "/usr/sbin", "/usr/share", "/usr/include",
    "/usr/local/lib", "/usr/local/lib64", "/usr/local/bin", "/usr/local/share",
    "/lib", "/lib64", "/bin", "/sbin", "/nix/store",
)  # fmt: skip
# Of /etc, only the files that name resolution, TLS, time zones and the dynamic linker read. They may be
# replaced while the server runs, so they are looked up for each tool.
_REPLACED = (
    "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf",
    "/etc/host.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols", "/etc/localtime", "/etc/timezone",
    "/etc/mime.types", "/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts", "/run/systemd/resolve",
    "/dev/urandom", "/dev/random", "/dev/zero", "/proc/cpuinfo", "/proc/meminfo", "/proc/self",
)  # fmt: skip

_PATH_BENEATH = 1
_BIND_TCP = 1
_ABSTRACT_UNIX_SOCKET, _SIGNAL = 1, 2

# The folders for every tool, held open: looking them up for each tool would be most of the work.
_shared: list[Any] = []


@functools.cache
def version() -> int:
    """Version of the kernel's interface; 0 without Landlock or without the package."""
    try:
        from landlock import landlock_abi_version

        # The package takes a leftover errno for a failure of its own calls.
        ctypes.set_errno(0)
        return landlock_abi_version()
    except (ImportError, OSError):
        return 0


def warm(readable: Iterable[str]) -> None:
    """Opens the folders that every tool may read, in the process from which tools are forked."""
    if version() > 0:
        _ruleset()
        _shared.extend(rule for rule in map(_readable, (*_FOLDERS, *readable)) if rule)


def close(scratch: str, readable: Iterable[str]) -> None:
    """Restricts this process irrevocably. `readable`: folders beside those for all tools. Raises OSError."""
    if version() == 0:
        return
    from landlock.plumbing import get_add_rule, get_create_ruleset, get_restrict_self

    everything, _, of_files = _rights()
    own = [rule for rule in map(_readable, (*_REPLACED, *readable)) if rule]
    own += [_rule("/dev/null", of_files), _rule(scratch, everything)]
    attributes = _ruleset()
    ctypes.set_errno(0)
    ruleset = get_create_ruleset()(ctypes.byref(attributes), ctypes.sizeof(attributes), 0)
    add_rule = get_add_rule()
    for rule in (*_shared, *own):
        add_rule(ruleset, _PATH_BENEATH, ctypes.byref(rule), 0)
        os.close(rule.parent_fd)
    get_restrict_self()(ruleset, 0)
    os.close(ruleset)


@functools.cache
def _ruleset() -> Any:
    """The rights that are denied unless a rule grants them. No TCP port can be bound: a tool calls others,
    and must not answer in the place of the server or of another tool. Signals and abstract sockets reach
    the tool's own processes only.
    """
    from landlock.plumbing import RulesetAttr

    class Ruleset(RulesetAttr):
        """Adds the part of the kernel's interface that the package does not know yet."""

        _fields_ = [("handled_access_net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]

    ports = _BIND_TCP if version() >= PORTS else 0
    return Ruleset(_rights()[0], ports, _ABSTRACT_UNIX_SOCKET | _SIGNAL if version() >= SCOPES else 0)


@functools.cache
def _rights() -> tuple[int, int, int]:
    """All rights; the rights to read; the rights to read and write that apply to files. As numbers: the
    package's objects take time and memory.
    """
    from landlock import FSAccess

    read_file, write_file = FSAccess.READ_FILE.value, FSAccess.WRITE_FILE.value
    return FSAccess.all().value, read_file | FSAccess.READ_DIR.value | FSAccess.EXECUTE.value, read_file | write_file


def _readable(path: str) -> Optional[Any]:
    """The rule that allows reading a path; None when the path does not exist."""
    try:
        return _rule(path, _rights()[1])
    except FileNotFoundError:
        return None


def _rule(path: str, rights: int) -> Any:
    """The rule that grants rights to a path and holds it open. A file gets only the rights that apply to
    files.
    """
    from landlock.plumbing import PathBeneathAttr

    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    if not stat.S_ISDIR(os.fstat(place).st_mode):
        rights &= _rights()[2]
    return PathBeneathAttr(rights, place)
