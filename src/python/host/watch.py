"""
What a tool takes together with all that it has started. The kernel limits each process and each file; this adds them up, a few
times a second, and names those that are over.
"""

import os
import resource
import stat
import time
from typing import Iterator, Optional

import confine
import processes

_PERIOD_SECONDS = 0.2
# A tool with much to look at must not keep the fork server from its orders: looks take a twentieth of its time at most.
_LOOK_SHARE = 20
_DEEPEST = 64
_PAGE = resource.getpagesize()
# The unit of st_blocks, whatever the disk's own.
_BLOCK = 512
# For so many processes of a tool it is taken that they share all pages of the fork server, as they do when they are forked.
_TAKEN_TO_SHARE = 8


class Watch:
    """Linux only; elsewhere it finds nothing."""

    def __init__(self, folder: str, limits: confine.Limits) -> None:
        self.folder, self.limits = folder, limits
        self.next = 0.0
        self.last_pid = b""
        self.room = (0, 0)
        self.families: dict[int, list[int]] = {}

    def is_due(self) -> bool:
        return time.monotonic() >= self.next

    def patience(self) -> float:
        """Seconds until the next look."""
        return max(0.0, self.next - time.monotonic())

    def look(self, tools: dict[int, str]) -> dict[int, str]:
        """The limit that each tool is over, for those that are; tools and findings by process id, `tools` with their folders."""
        began = time.process_time()
        self._find_families(tools)
        has_changed = self._has_changed()
        over = {}
        for pid, scratch in tools.items():
            reason = self._judge(self.families.get(pid, [pid]), scratch if has_changed else None)
            if reason:
                over[pid] = reason
        self.next = time.monotonic() + max(_PERIOD_SECONDS, (time.process_time() - began) * _LOOK_SHARE)
        return over

    def _find_families(self, tools: dict[int, str]) -> None:
        last_pid = _last_pid()
        if last_pid == self.last_pid and last_pid and self.families.keys() >= tools.keys():
            return  # No process was started anywhere since.
        self.last_pid = last_pid
        self.families = {pid: processes.family(pid) for pid in tools}

    def _has_changed(self) -> bool:
        """Whether anybody took or gave back room on the disk of the folders: without that, no tool has."""
        try:
            disk = os.statvfs(self.folder)
        except OSError:
            return False
        before, self.room = self.room, (disk.f_bfree, disk.f_ffree)
        return self.room != before

    def _judge(self, family: list[int], scratch: Optional[str]) -> Optional[str]:
        if len(family) > self.limits.processes:
            return "processes"
        # Files count here too, so it is seldom that more must be read.
        if sum(map(_resident_bytes, family)) > self.limits.memory_bytes and _memory(family) > self.limits.memory_bytes:
            return "memory"
        if scratch is None:
            return None
        return self._judge_files(scratch, family)

    def _judge_files(self, scratch: str, family: list[int]) -> Optional[str]:
        files = total = 0
        try:
            for size in _sizes(scratch):
                if size is None or files == self.limits.scratch_files:
                    return "files"
                files, total = files + 1, total + size
        except OSError:
            return None  # It has no folder yet.
        total += _unnamed_bytes(family)
        return "bytes" if total > self.limits.scratch_bytes else None


def _last_pid() -> bytes:
    try:
        with open("/proc/loadavg", "rb") as file:
            return file.read().split()[-1]
    except OSError:
        return b""


def _resident_bytes(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def _memory(family: list[int]) -> int:
    """
    Bytes that are theirs, nearly. Not from the maps of the processes, which tell exactly: to read them waits for a lock that a process
    has while it forks, and one of a fork bomb that is not given the processor keeps it.
    """
    shared = _private_bytes(os.getpid())
    own = sorted(map(_private_bytes, family), reverse=True)
    return sum(own) - sum(min(size, shared) for size in own[:_TAKEN_TO_SHARE])


def _private_bytes(pid: int) -> int:
    """What it has in memory that is not of a file, with what it shares by having been forked."""
    total = 0
    try:
        with open(f"/proc/{pid}/status") as file:
            for line in file:
                if line.startswith(("RssAnon:", "RssShmem:")):
                    total += int(line.split()[1]) * 1024
    except OSError:
        pass  # It ended meanwhile.
    return total


def _sizes(name: str, parent: Optional[int] = None, depth: int = 0) -> Iterator[Optional[int]]:
    """
    What each entry of a folder and of those below takes on the disk. None for what cannot be looked into, because it lies too deep or
    its owner has closed it. The tree belongs to a stranger who changes it meanwhile: no link is followed, and no path is trusted.
    """
    folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    found = entry.stat(follow_symlinks=False)
                    yield found.st_blocks * _BLOCK
                    if stat.S_ISDIR(found.st_mode):
                        if depth == _DEEPEST:
                            yield None
                        else:
                            yield from _sizes(entry.name, folder, depth + 1)
                except PermissionError:
                    yield None
                except OSError:
                    continue  # It went away, or became something else.
    finally:
        os.close(folder)


def _unnamed_bytes(family: list[int]) -> int:
    """Of files that are open and have no name any more. Those of an ordinary user's tools are not to be seen."""
    sizes: dict[int, int] = {}
    for pid in family:
        for found in _open_files(pid):
            if stat.S_ISREG(found.st_mode) and found.st_nlink == 0:
                sizes[found.st_ino] = found.st_blocks * _BLOCK
    return sum(sizes.values())


def _open_files(pid: int) -> Iterator[os.stat_result]:
    try:
        names = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return  # It ended, or is not ours to look into.
    for name in names:
        try:
            yield os.stat(f"/proc/{pid}/fd/{name}")
        except OSError:
            continue  # It was closed.
