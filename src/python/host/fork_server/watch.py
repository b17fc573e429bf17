"""The resources of a tool and all processes that it started. The kernel limits each process and each file;
this module adds them up a few times a second, and reports tools that exceed a limit.
"""

import contextlib
import os
import resource
import stat
import time
from typing import Iterable, Iterator, NamedTuple, Optional

from fork_server import processes, room
from walls import confine

_PERIOD_SECONDS = 0.2
# A tool with many processes and files must not delay the orders of the fork server: checks take at most a
# twentieth of its time.
_LOOK_SHARE = 20
_DEEPEST = 64
_PAGE = resource.getpagesize()
# The unit of st_blocks, which is independent of the disk's block size.
_BLOCK = 512
_TICKS = os.sysconf("SC_CLK_TCK")
# Up to so many processes of a tool are assumed to share all pages of the fork server, as they do after the
# fork.
_TAKEN_TO_SHARE = 8


class _Counters(NamedTuple):
    """Counters of one process: ticks of processor time, its own and those of the children that it waited for,
    and bytes in memory.
    """

    own: int
    waited: int
    resident: int


class _Spent:
    """The approximate processor time of a tool and all processes that it started. A process that lived only
    between two checks counts only when its parent waited for it.
    """

    def __init__(self) -> None:
        self.own: dict[int, int] = {}
        # Ticks since the last check.
        self.latest = 0
        self.added = self.total = self.renewed_at = 0
        self.is_to_renew = False

    def add(self, counters: dict[int, _Counters]) -> float:
        """Seconds since the last renewal. Some children are known from checks, others from a parent that
        waited for them.
        """
        self.latest = sum(max(0, one.own - self.own.get(pid, 0)) for pid, one in counters.items())
        self.added += self.latest
        self.own = {pid: one.own for pid, one in counters.items()}
        self.total = max(self.total, self.added, sum(one.own + one.waited for one in counters.values()))
        if self.is_to_renew:
            self.is_to_renew, self.renewed_at = False, self.total
        return (self.total - self.renewed_at) / _TICKS


class Watch:
    """Linux only; on other systems it finds nothing."""

    def __init__(self, folder: str, limits: confine.Limits, is_mounted: bool) -> None:
        """`is_mounted`: the folder of each tool is its own file system, whose limits the kernel enforces."""
        self.folder, self.limits, self.is_mounted = folder, limits, is_mounted
        self.reserve = room.Reserve(folder)
        self.next = 0.0
        self.last_pid = b""
        self.disk: Optional[room.Disk] = None
        self.families: dict[int, list[int]] = {}
        self.spent: dict[int, _Spent] = {}

    def is_due(self) -> bool:
        return time.monotonic() >= self.next

    def patience(self) -> float:
        """Seconds until the next check."""
        return max(0.0, self.next - time.monotonic())

    def renew(self, pid: int) -> None:
        """Restarts the count of the tool's processor time, from the next check on."""
        self.spent.setdefault(pid, _Spent()).is_to_renew = True

    def is_renewed(self, pid: int) -> bool:
        """Whether `renew` was called since the latest check."""
        return self.spent[pid].is_to_renew

    def look(self, tools: dict[int, str]) -> dict[int, str]:
        """The exceeded limit of each tool that exceeds one. Tools and results are keyed by process id;
        `tools` maps to folders.
        """
        began = time.process_time()
        self.spent = {pid: self.spent.get(pid) or _Spent() for pid in tools}
        self._find_families(tools)
        disk = None if self.is_mounted else room.disk(self.folder)
        # While free disk space is unchanged, no tool has taken or freed any.
        has_changed, self.disk = disk not in (None, self.disk), disk
        over = {}
        for pid, scratch in tools.items():
            try:
                reason = self._judge(pid, scratch if has_changed else None)
            except Exception:
                reason = "uncounted"  # Processes of the tool made this data. An error ends only that tool.
            if reason:
                over[pid] = reason
        over |= dict.fromkeys(self._find_writers(tools, disk), "room")
        self.next = time.monotonic() + max(_PERIOD_SECONDS, (time.process_time() - began) * _LOOK_SHARE)
        return over

    def _find_families(self, tools: Iterable[int]) -> None:
        last_pid = _last_pid()
        if last_pid == self.last_pid and last_pid and self.families.keys() >= set(tools):
            return  # No process was started since.
        self.last_pid = last_pid
        self.families = {pid: processes.family(pid) for pid in tools}

    def _find_writers(self, tools: dict[int, str], disk: Optional[room.Disk]) -> list[int]:
        """The tools to end when little room is left. With a file system for each tool: the one that uses most.
        On a shared disk: those that have run since the last check, because a tool can hide its files, so the
        largest writer cannot be identified.
        """
        if self.is_mounted:
            used = {pid: room.used(scratch) for pid, scratch in tools.items()}
            is_full = sum(used.values()) > room.memory_bytes()
            return [max(used, key=lambda pid: used[pid])] if is_full else []
        if disk is None or not self.reserve.is_under_attack(disk.free):
            return []
        return [pid for pid in tools if self.spent[pid].latest > 0]

    def _judge(self, pid: int, scratch: Optional[str]) -> Optional[str]:
        family = self.families.get(pid, [pid])
        if len(family) > self.limits.processes:
            return "processes"
        counters = {one: found for one in family if (found := _counters(one))}
        if self.spent[pid].add(counters) > self.limits.cpu_seconds:
            return "cpu"
        if self._takes_too_much(family, sum(one.resident for one in counters.values())):
            return "memory"
        if scratch is None:
            return None
        return self._judge_files(scratch, family)

    def _takes_too_much(self, family: list[int], resident: int) -> bool:
        most = self.limits.memory_bytes
        # First an upper bound that costs little: each process has all the files that it may open, all sockets.
        if resident + len(family) * self.limits.open_files * _SOCKET_BYTES <= most:
            return False
        return _memory(family) + _open_sockets(family) * _SOCKET_BYTES > most

    def _judge_files(self, scratch: str, family: list[int]) -> Optional[str]:
        files = total = 0
        try:
            for size in _sizes(scratch):
                if size is None or files == self.limits.scratch_files:
                    return "files"
                files, total = files + 1, total + size
        except OSError:
            return None  # The folder does not exist yet.
        total += _unnamed_bytes(family)
        return "bytes" if total > self.limits.scratch_bytes else None


def _last_pid() -> bytes:
    try:
        with open("/proc/loadavg", "rb") as file:
            return file.read().split()[-1]
    except OSError:
        return b""


def _counters(pid: int) -> Optional[_Counters]:
    """None when the process has ended."""
    try:
        file = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except OSError:
        return None
    try:
        # The name comes first, and the process chooses it: any bytes, parentheses and spaces included.
        fields = os.read(file, 4096).rpartition(b")")[2].split()
    except OSError:
        return None
    finally:
        os.close(file)
    own, waited = int(fields[11]) + int(fields[12]), int(fields[13]) + int(fields[14])
    return _Counters(own, waited, int(fields[21]) * _PAGE)


def _memory(family: list[int]) -> int:
    """Approximate memory of the processes in bytes. The memory maps would be exact, but reading them waits
    for a lock that a process holds while it forks, and a process of a fork bomb that gets no processor
    time keeps the lock.
    """
    shared = _private_bytes(os.getpid())
    own = sorted(map(_private_bytes, family), reverse=True)
    return sum(own) - sum(min(size, shared) for size in own[:_TAKEN_TO_SHARE])


def _private_bytes(pid: int) -> int:
    """Anonymous memory of the process, including pages shared through the fork."""
    total = 0
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            for line in file:
                if line.startswith((b"RssAnon:", b"RssShmem:")):
                    total += int(line.split()[1]) * 1024
    except OSError:
        pass  # The process has ended meanwhile.
    return total


def _socket_bytes() -> int:
    """The most data that may wait in a socket, sent or received, unless its size was set; a default for a
    kernel that does not tell.
    """
    found = [212_992]
    for name in ("wmem_default", "rmem_default"):
        with contextlib.suppress(OSError), open(f"/proc/sys/net/core/{name}", "rb") as file:
            found.append(int(file.read()))
    return max(found)


_SOCKET_BYTES = _socket_bytes()


def _open_sockets(family: list[int]) -> int:
    """The number of open sockets, each counted once. The sockets of an ordinary user's tools are not visible,
    nor in many containers: there all open files count, in each process separately.
    """
    sockets: set[int] = set()
    unseen = 0
    for pid in family:
        found = list(_open_files(pid))
        sockets.update(one.st_ino for one in found if stat.S_ISSOCK(one.st_mode))
        unseen += 0 if found else _open_file_count(pid)
    return len(sockets) + unseen


def _open_file_count(pid: int) -> int:
    """For a process whose files are not visible. Before Linux 6.2 it counts only files beyond the first 64,
    for which each process has room anyway.
    """
    try:
        count = os.stat(f"/proc/{pid}/fd").st_size
        if count > 0:
            return count
        with open(f"/proc/{pid}/status", "rb") as file:
            room = next(int(line.split()[1]) for line in file if line.startswith(b"FDSize:"))
        return max(0, room - 64)
    except OSError:
        return 0  # The process has ended.


def _sizes(name: str, parent: Optional[int] = None, depth: int = 0) -> Iterator[Optional[int]]:
    """The disk usage of each entry of a folder and its subfolders. None for an entry that cannot be read
    because it is nested too deep or its owner has closed it. A tool may change the tree meanwhile: no link
    is followed, and no path is trusted.
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
                    continue  # The entry has disappeared, or its type has changed.
    finally:
        os.close(folder)


def _unnamed_bytes(family: list[int]) -> int:
    """The size of open files without a name. The files of an ordinary user's tools are not visible."""
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
        return  # The process has ended, or this process may not read it.
    for name in names:
        try:
            yield os.stat(f"/proc/{pid}/fd/{name}")
        except OSError:
            continue  # The file was closed.
