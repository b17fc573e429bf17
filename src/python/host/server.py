"""The fork server: it warms up once, then forks one process for each loaded tool. It runs no tool code
itself. Orders come as JSON lines on standard input, reports leave as JSON lines on standard output; the
end of input ends every process.

Orders:  {"op": "spawn", "number", "token", "packages"}   {"op": "called", "number"}
         {"op": "kill", "number"}
Reports: {"kind": "ready", "python", "pydantic", "missing"}   {"kind": "failed", "number", "detail"}
         {"kind": "ended", "number", "code", "signal", "exceeded", "usage"}
"""

import os
import sys

# The interpreter is started isolated (-I), so that it imports nothing from the current folder; our folder is
# added.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

if __name__ == "__main__":
    from fork_server import guard

    guard.stand_behind()

from walls import reach  # noqa: E402

PINNED = reach.pin()

import gc  # noqa: E402
import json  # noqa: E402

from fork_server import forks, warm  # noqa: E402
from walls import confine  # noqa: E402

if __name__ == "__main__":
    gc.disable()
    warm.up(PINNED.values())
    settings = json.loads(sys.argv[1])
    forks.ForkServer(settings["folder"], settings["address"], confine.Limits(**settings["limits"])).run()
