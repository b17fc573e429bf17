"""What processes take, as the kernel reports it: processor time, memory, sockets, files. Linux only; on other
systems the functions find nothing.
"""

import contextlib
import os
import resource
import stat
from typing import Iterator, NamedTuple, Optional

_DEEPEST = 64
_PAGE = resource.getpagesize()
# The unit of st_blocks, which is independent of the disk's block size.
_BLOCK = 512
TICKS = os.sysconf("SC_CLK_TCK")
# Up to so many processes of a tool are assumed to share all pages of the fork server, as they do after the
# fork.
_TAKEN_TO_SHARE = 8


class Counters(NamedTuple):
    """Counters of one process: ticks of processor time, its own and those of the children that it waited for,
    and bytes in memory.
    """

    own: int
    waited: int
    resident: int


def last_pid() -> bytes:
    try:
        with open("/proc/loadavg", "rb") as file:
            return file.read().split()[-1]
    except OSError:
        return b""


def counters(pid: int) -> Optional[Counters]:
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
    return Counters(own, waited, int(fields[21]) * _PAGE)


def memory(family: list[int]) -> int:
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


SOCKET_BYTES = _socket_bytes()


def open_sockets(family: list[int]) -> int:
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


def sizes(name: str, parent: Optional[int] = None, depth: int = 0) -> Iterator[Optional[int]]:
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
                            yield from sizes(entry.name, folder, depth + 1)
                except PermissionError:
                    yield None
                except OSError:
                    continue  # The entry has disappeared, or its type has changed.
    finally:
        os.close(folder)


def unnamed_bytes(family: list[int]) -> int:
    """The size of open files without a name. The files of an ordinary user's tools are not visible."""
    found_sizes: dict[int, int] = {}
    for pid in family:
        for found in _open_files(pid):
            if stat.S_ISREG(found.st_mode) and found.st_nlink == 0:
                found_sizes[found.st_ino] = found.st_blocks * _BLOCK
    return sum(found_sizes.values())


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
