"""The fork server's handling of processes and folders of tools: finds, ends and removes them."""

import contextlib
import os
import shutil
import signal
import subprocess
import time


def end(pid: int) -> None:
    """Ends the process and its group. The child was not reaped, so its id cannot belong to another process.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
        os.killpg(pid, signal.SIGKILL)


def end_group(pid: int) -> None:
    """Ends the rest of the group that a process had made."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def end_all_of(uid: int) -> None:
    """Kills every process of a user in one system call, which no fork bomb outruns. Raises OSError when no
    process can be started for it.
    """
    if uid == 0:
        raise ValueError("root's processes are not a tool's")
    pid = os.fork()
    if pid == 0:
        try:
            # Real, effective and saved: the right to signal depends on the real user too.
            os.setresuid(uid, uid, uid)
            os.kill(-1, signal.SIGKILL)
        finally:
            os._exit(0)
    # As that user, this process can be stopped by the processes that it is about to end, and must then not be
    # waited for.
    while os.WIFSTOPPED(os.waitpid(pid, os.WUNTRACED)[1]):
        os.kill(pid, signal.SIGCONT)


def end_children(seconds: float) -> None:
    """Ends the children of this process, and orphans that become its children. With a tool's own user it ends
    them by user, which no fork bomb outruns, unless another fork server has claimed that user meanwhile. Takes
    at most so many seconds. Linux only.
    """
    # Not loaded before: the process that calls this takes little memory while it waits.
    from walls import confine

    claims = {}
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for pid in children(os.getpid()):
            try:
                uid = user_of(pid)
                if uid != os.getuid():
                    # Held until this process ends.
                    if claims.get(uid) is None:
                        claims[uid] = confine.claim_of(uid)
                    if claims[uid] is not None:
                        end_all_of(uid)
                end(pid)
            except OSError:
                continue  # The process has ended, or no process can be started now.
        try:
            while os.waitpid(-1, os.WNOHANG)[0] != 0:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def user_of(pid: int) -> int:
    """The real user of a process, even of one that hides its files in /proc. Raises OSError when it has
    ended. Linux only.
    """
    with open(f"/proc/{pid}/status", "rb") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(b"Uid:"))


def children(pid: int) -> list[int]:
    """The child processes. Empty where the system does not list them: not Linux, or a kernel without these lists."""
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
            continue  # The process has ended meanwhile.
    return found


def family(pid: int) -> list[int]:
    """The process and all its descendants."""
    found = [pid]
    for one in found:
        found += children(one)
    return found


def remove(folder: str) -> None:
    """Removes a folder with its content, even when folders are nested a thousand deep: `rm` can do that,
    Python cannot. Neither follows a link that replaces a folder meanwhile. Raises OSError when no process
    can be started for `rm`.
    """
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except RecursionError:
        pass
    if os.path.lexists(folder):
        subprocess.run(["rm", "-rf", "--", folder], stderr=subprocess.DEVNULL)
