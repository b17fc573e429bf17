"""What the fork server does to processes and folders of tools: finds what belongs to one, ends it, removes it."""

import contextlib
import os
import shutil
import signal
import subprocess
import time


def end(pid: int) -> None:
    """The process and its group. It is a child that was not reaped, so the id is still its own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
        os.killpg(pid, signal.SIGKILL)


def end_group(pid: int) -> None:
    """What is left of the group that a process had made."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def end_all_of(uid: int) -> None:
    """
    Kills every process of a user in one call that the kernel carries out at a stretch: no fork bomb outruns it. Raises OSError when
    there is no process to be had for it.
    """
    if uid == 0:
        raise ValueError("root's processes are not a tool's")
    pid = os.fork()
    if pid == 0:
        try:
            # Real, effective and saved: a signal is sent by the right of the real user too.
            os.setresuid(uid, uid, uid)
            os.kill(-1, signal.SIGKILL)
        finally:
            os._exit(0)
    # As that user's it can be stopped by those that it is about to end, and must not be waited for then.
    while os.WIFSTOPPED(os.waitpid(pid, os.WUNTRACED)[1]):
        os.kill(pid, signal.SIGCONT)


def end_children(seconds: float) -> None:
    """
    Ends those of this process, and what becomes one by that; by its user where that is a tool's own, which no fork bomb outruns. Takes
    so many seconds at most. Linux only.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for pid in children(os.getpid()):
            try:
                uid = user_of(pid)
                if uid != os.getuid():
                    end_all_of(uid)
                end(pid)
            except OSError:
                continue  # It has ended, or there is no process to be had just now.
        try:
            while os.waitpid(-1, os.WNOHANG)[0] != 0:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def user_of(pid: int) -> int:
    """Who the process really is, also one that hides its files in /proc. Raises OSError when it has ended. Linux only."""
    with open(f"/proc/{pid}/status", "rb") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(b"Uid:"))


def children(pid: int) -> list[int]:
    """None where the system does not tell: not Linux, or a kernel without these lists."""
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return found
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += map(int, file.read().split())
        except OSError:
            continue  # It ended meanwhile.
    return found


def family(pid: int) -> list[int]:
    """The process and all that descend from it."""
    found = [pid]
    for one in found:
        found += children(one)
    return found


def remove(folder: str) -> None:
    """
    With all that is in it, also where folders lie a thousand deep: that is beyond Python, but not beyond `rm`. Neither follows a link
    that somebody puts in the place of a folder meanwhile. Raises OSError when there is no process to be had for `rm`.
    """
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except RecursionError:
        pass
    if os.path.lexists(folder):
        subprocess.run(["rm", "-rf", "--", folder], stderr=subprocess.DEVNULL)
