"""The resources of a tool and all processes that it started. The kernel limits each process and each file;
this module adds them up a few times a second, and reports tools that exceed a limit.
"""

import time
from typing import Iterable, Optional

from fork_server import processes, room, usage
from walls import confine

_PERIOD_SECONDS = 0.2
# A tool with many processes and files must not delay the orders of the fork server: checks take at most a
# twentieth of its time.
_LOOK_SHARE = 20


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

    def add(self, counters: dict[int, usage.Counters]) -> float:
        """Seconds since the last renewal. Some children are known from checks, others from a parent that
        waited for them.
        """
        self.latest = sum(max(0, one.own - self.own.get(pid, 0)) for pid, one in counters.items())
        self.added += self.latest
        self.own = {pid: one.own for pid, one in counters.items()}
        self.total = max(self.total, self.added, sum(one.own + one.waited for one in counters.values()))
        if self.is_to_renew:
            self.is_to_renew, self.renewed_at = False, self.total
        return (self.total - self.renewed_at) / usage.TICKS


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
        last_pid = usage.last_pid()
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
        counters = {one: found for one in family if (found := usage.counters(one))}
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
        if resident + len(family) * self.limits.open_files * usage.SOCKET_BYTES <= most:
            return False
        return usage.memory(family) + usage.open_sockets(family) * usage.SOCKET_BYTES > most

    def _judge_files(self, scratch: str, family: list[int]) -> Optional[str]:
        files = total = 0
        try:
            for size in usage.sizes(scratch):
                if size is None or files == self.limits.scratch_files:
                    return "files"
                files, total = files + 1, total + size
        except OSError:
            return None  # The folder does not exist yet.
        total += usage.unnamed_bytes(family)
        return "bytes" if total > self.limits.scratch_bytes else None
