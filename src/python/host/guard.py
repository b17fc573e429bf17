"""
What stays behind the fork server, to end all that tools have started when the fork server itself is ended: by the system for want of
memory, or by somebody's mistake. Only the first process of each tool ends with it; the others become children of this one.
"""

import contextlib
import json
import os
import signal
import sys
import time

import confine
import processes

_END_SECONDS = 5


def stand_behind() -> None:
    """Returns in the process that is to be the fork server; the one that was started ends when all of them have. Linux only."""
    if not confine.LINUX:
        return
    confine.become_subreaper()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        confine.end_with(parent)
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the server decides.
    signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _end_all()
    with contextlib.suppress(OSError):
        processes.remove(json.loads(sys.argv[1])["folder"])
    if code < 0:
        os.kill(os.getpid(), -code)  # So that the server hears how it ended.
    os._exit(abs(code))


def _end_all() -> None:
    """Whatever has become a child of this process; by its user where that is a tool's own, which no fork bomb outruns."""
    deadline = time.monotonic() + _END_SECONDS
    while time.monotonic() < deadline:
        for pid in processes.children(os.getpid()):
            try:
                uid = processes.user_of(pid)
                if uid != os.getuid():
                    processes.end_all_of(uid)
                processes.end(pid)
            except OSError:
                continue  # It has ended, or there is no process to be had just now.
        try:
            while os.waitpid(-1, os.WNOHANG)[0] != 0:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)
