"""
What a tool takes together with all that it has started. The kernel limits each process and each file; this adds them up, a few
times a second, and names those that are over.
"""

import contextlib
import os
import resource
import stat
import time
from typing import Iterable, Iterator, NamedTuple, Optional

import confine
import processes
import room

_PERIOD_SECONDS = 0.2
# A tool with much to look at must not keep the fork server from its orders: looks take a twentieth of its time at most.
_LOOK_SHARE = 20
_DEEPEST = 64
_PAGE = resource.getpagesize()
# The unit of st_blocks, whatever the disk's own.
_BLOCK = 512
_TICKS = os.sysconf("SC_CLK_TCK")
# For so many processes of a tool it is taken that they share all pages of the fork server, as they do when they are forked.
_TAKEN_TO_SHARE = 8


class _Counters(NamedTuple):
    """Of one process: ticks of processor time, its own and those of children that it has waited for, and bytes in memory."""

    own: int
    waited: int
    resident: int


class _Spent:
    """The processor time of a tool and all that it has started, nearly: of what came and went between two looks nobody knows."""

    def __init__(self) -> None:
        self.own: dict[int, int] = {}
        # Ticks since the last look.
        self.latest = 0
        self.added = self.total = self.renewed_at = 0
        self.is_to_renew = False

    def add(self, counters: dict[int, _Counters]) -> float:
        """Seconds since it was renewed. Some children are known from looks at them, others from their parent that waited for them."""
        self.latest = sum(max(0, one.own - self.own.get(pid, 0)) for pid, one in counters.items())
        self.added += self.latest
        self.own = {pid: one.own for pid, one in counters.items()}
        self.total = max(self.total, self.added, sum(one.own + one.waited for one in counters.values()))
        if self.is_to_renew:
            self.is_to_renew, self.renewed_at = False, self.total
        return (self.total - self.renewed_at) / _TICKS


class Watch:
    """Linux only; elsewhere it finds nothing."""

    def __init__(self, folder: str, limits: confine.Limits, is_mounted: bool) -> None:
        """`is_mounted`: the folder of each tool is a file system of its own, which the kernel keeps within its limits."""
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
        """Seconds until the next look."""
        return max(0.0, self.next - time.monotonic())

    def renew(self, pid: int) -> None:
        """The tool may use its processor time anew, from the next look on."""
        self.spent.setdefault(pid, _Spent()).is_to_renew = True

    def is_renewed(self, pid: int) -> bool:
        """Whether that was said since the latest look."""
        return self.spent[pid].is_to_renew

    def look(self, tools: dict[int, str]) -> dict[int, str]:
        """The limit that each tool is over, for those that are; tools and findings by process id, `tools` with their folders."""
        began = time.process_time()
        self.spent = {pid: self.spent.get(pid) or _Spent() for pid in tools}
        self._find_families(tools)
        disk = None if self.is_mounted else room.disk(self.folder)
        # Without a change on the disk no tool has taken room or given it back.
        has_changed, self.disk = disk not in (None, self.disk), disk
        over = {}
        for pid, scratch in tools.items():
            try:
                reason = self._judge(pid, scratch if has_changed else None)
            except Exception:
                reason = "uncounted"  # Strangers made what is read here. It must end nobody but them.
            if reason:
                over[pid] = reason
        over |= dict.fromkeys(self._find_writers(tools, disk), "room")
        self.next = time.monotonic() + max(_PERIOD_SECONDS, (time.process_time() - began) * _LOOK_SHARE)
        return over

    def _find_families(self, tools: Iterable[int]) -> None:
        last_pid = _last_pid()
        if last_pid == self.last_pid and last_pid and self.families.keys() >= set(tools):
            return  # No process was started anywhere since.
        self.last_pid = last_pid
        self.families = {pid: processes.family(pid) for pid in tools}

    def _find_writers(self, tools: dict[int, str], disk: Optional[room.Disk]) -> list[int]:
        """
        The tools to end when there is little room left for all. On a disk those that have run since the last look: a tool can hide what
        it has written, so the largest writer cannot be told.
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
        # Files count here too, and every file that could be open as a socket, so it is seldom that more must be read.
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
            return None  # It has no folder yet.
        total += _unnamed_bytes(family)
        return "bytes" if total > self.limits.scratch_bytes else None


def _last_pid() -> bytes:
    try:
        with open("/proc/loadavg", "rb") as file:
            return file.read().split()[-1]
    except OSError:
        return b""


def _counters(pid: int) -> Optional[_Counters]:
    """None when it has ended."""
    try:
        file = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except OSError:
        return None
    try:
        # The name comes first, and is what the process has made it: any bytes, parentheses and spaces among them.
        fields = os.read(file, 4096).rpartition(b")")[2].split()
    except OSError:
        return None
    finally:
        os.close(file)
    own, waited = int(fields[11]) + int(fields[12]), int(fields[13]) + int(fields[14])
    return _Counters(own, waited, int(fields[21]) * _PAGE)


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
        with open(f"/proc/{pid}/status", "rb") as file:
            for line in file:
                if line.startswith((b"RssAnon:", b"RssShmem:")):
                    total += int(line.split()[1]) * 1024
    except OSError:
        pass  # It ended meanwhile.
    return total


def _socket_bytes() -> int:
    """What may wait in a socket, on its way out or in, unless its size was set; that of a kernel that does not tell."""
    found = [212_992]
    for name in ("wmem_default", "rmem_default"):
        with contextlib.suppress(OSError), open(f"/proc/sys/net/core/{name}", "rb") as file:
            found.append(int(file.read()))
    return max(found)


_SOCKET_BYTES = _socket_bytes()


def _open_sockets(family: list[int]) -> int:
    """
    How many they have open, each counted once. Those of an ordinary user's tools are not to be seen, nor in many containers: there
    all that is open counts, in every process anew.
    """
    sockets: set[int] = set()
    unseen = 0
    for pid in family:
        found = list(_open_files(pid))
        sockets.update(one.st_ino for one in found if stat.S_ISSOCK(one.st_mode))
        unseen += 0 if found else _open_file_count(pid)
    return len(sockets) + unseen


def _open_file_count(pid: int) -> int:
    """Of a process whose files are not to be seen; before Linux 6.2 those beyond the first 64, which it has room for in any case."""
    try:
        count = os.stat(f"/proc/{pid}/fd").st_size
        if count > 0:
            return count
        with open(f"/proc/{pid}/status", "rb") as file:
            room = next(int(line.split()[1]) for line in file if line.startswith(b"FDSize:"))
        return max(0, room - 64)
    except OSError:
        return 0  # It has ended.


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
