"""The process that started the fork server. It ends all processes of tools when the fork server is killed,
for example for lack of memory. Only the first process of each tool ends with the fork server; the others
become children of this process.
"""

import contextlib
import os
import signal
import sys

from walls import prctl

_END_SECONDS = 5


def stand_behind() -> None:
    """Returns in the process that becomes the fork server. The original process ends when all others have
    ended. Linux only.
    """
    if not prctl.LINUX:
        return
    prctl.become_subreaper()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        prctl.end_with(parent)
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the server decides.
    signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _clean_up()
    if code < 0:
        os.kill(os.getpid(), -code)  # Ends by the same signal, which the server reports.
    os._exit(abs(code))


def _clean_up() -> None:
    # Not loaded before: this process takes little memory while it waits.
    import json

    from fork_server import processes

    processes.end_children(_END_SECONDS)
    with contextlib.suppress(OSError):
        processes.remove(json.loads(sys.argv[1])["folder"])
