"""Disk space for the files of tools. Where the server may mount, the folder of each tool is its own file
system in memory. The kernel then bounds the size and number of files, including mapped and unlinked files
and files in flight over a socket. They are mounted in a namespace of the fork server: other processes do
not see them, and they end with it. Elsewhere the watch adds up visible files, and ends writers when the
disk is nearly full.
"""

import contextlib
import ctypes
import os
from typing import NamedTuple, Optional

from walls import prctl

_NAMESPACE_OF_MOUNTS = 0x20000
_NO_SUID, _NO_DEVICES = 2, 4
_RECURSIVE, _SLAVE = 1 << 14, 1 << 19
_DETACH = 2
# Disk space that tools must leave to the database; half of the free space when little is free at the start.
_SPARED_BYTES = 1024**3
# Other programs write to the disk as well, and no tool is ended for that.
_STEP_BYTES = 1024**2

_libc = ctypes.CDLL(None, use_errno=True)


def separate(folder: str) -> bool:
    """Moves this process and its descendants into a mount namespace. Returns whether file systems can be
    mounted below the folder.
    """
    if not prctl.LINUX or os.geteuid() != 0:
        return False
    probe = os.path.join(folder, "probe")
    try:
        _check(_libc.unshare(_NAMESPACE_OF_MOUNTS))
        # File systems that are unmounted outside disappear here, too.
        _check(_libc.mount(None, b"/", None, _RECURSIVE | _SLAVE, None))
        os.mkdir(probe)
        mount(probe, 1, 1, 0)
        unmount(probe)
        return True
    except (OSError, AttributeError):
        return False
    finally:
        with contextlib.suppress(OSError):
            os.rmdir(probe)


def mount(folder: str, size: int, files: int, user: int) -> None:
    """Raises OSError."""
    # The folder itself counts as a file.
    options = f"size={size},nr_inodes={files + 1},mode=700,uid={user},gid={user}"
    _check(_libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", _NO_SUID | _NO_DEVICES, options.encode()))


def unmount(folder: str) -> None:
    """Open files stay until their processes end. Does nothing when the folder is not a mount point."""
    _libc.umount2(os.fsencode(folder), _DETACH)


def used(folder: str) -> int:
    """Bytes in use in a file system that is mounted there; its processes may have hidden the files. 0 for a
    folder without one: a new process makes its folder before it mounts the file system.
    """
    try:
        if os.stat(folder).st_dev == os.stat(os.path.dirname(folder)).st_dev:
            return 0
        found = os.statvfs(folder)
    except OSError:
        return 0
    return (found.f_blocks - found.f_bfree) * found.f_frsize


def memory_bytes() -> int:
    """The bound on all these file systems together: a quarter of the machine's memory."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4


class Disk(NamedTuple):
    free: int
    files: int


def disk(folder: str) -> Optional[Disk]:
    try:
        found = os.statvfs(folder)
    except OSError:
        return None
    return Disk(found.f_bavail * found.f_frsize, found.f_ffree)


class Reserve:
    """Decides when tools must be ended so that the disk does not become full."""

    def __init__(self, folder: str) -> None:
        first = disk(folder)
        self.spared = min(_SPARED_BYTES, first.free // 2) if first else 0
        self.last = first.free if first else 0

    def is_under_attack(self, free: int) -> bool:
        """Whether little is free, and less than at the last check."""
        is_less = free < self.last - _STEP_BYTES
        self.last = free
        return is_less and free < self.spared


def _check(result: int) -> None:
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
