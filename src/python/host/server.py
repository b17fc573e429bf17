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

import asyncio  # noqa: E402
import gc  # noqa: E402
import importlib  # noqa: E402
import json  # noqa: E402
import platform  # noqa: E402
import select  # noqa: E402
import selectors  # noqa: E402
import signal  # noqa: E402
import socket  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
from typing import Any, NoReturn, Optional  # noqa: E402

from calls import channel  # noqa: E402
from walls import confine  # noqa: E402
import open_webui  # noqa: E402, F401  Tools find it here: they do not search our folder.
from walls import prctl  # noqa: E402
from fork_server import processes  # noqa: E402
import pydantic  # noqa: E402
from loading import replaced  # noqa: E402
from fork_server import reports, room  # noqa: E402
from calls import session  # noqa: E402
from loading import tool  # noqa: E402
from fork_server import watch  # noqa: E402

# The modules that published tools import most. Loaded here, they cost a tool neither time nor memory.
_COMMON = (
    "requests", "httpx", "aiohttp", "bs4", "fastapi", "open_webui.routers.images", "open_webui.models.users",
    "sqlite3", "xml.etree.ElementTree", "smtplib", "email.mime.multipart", "email.mime.text", "email.mime.base", "difflib", "statistics",
)  # fmt: skip
_STOP_SECONDS = 5
_SWEEP_SECONDS = 0.05


def warm() -> None:
    """Does the common work of all tools once, so that children share its memory and save its time."""
    source = "class Tools:\n class Valves(M):\n  a: str = ''\n def f(self, a: str, b: int = 1, c: list[str] = []): pass"
    tree = compile(source.replace("(M)", "(__import__('pydantic').BaseModel)"), "warm", "exec", 0x400)
    for function in tool.Tool("warm", source, tree).functions.values():
        function.bind({"a": "a", "b": "1"}, {})
    del sys.modules["tool_warm"]

    async def once() -> None:
        await asyncio.to_thread(int)

    asyncio.run(once())
    confine.warm(PINNED.values())
    # Without a collection first: tools would write to the freed memory, and each write copies the page.
    gc.freeze()


def load_common(name: str) -> None:
    try:
        importlib.import_module(name)
    except ImportError:
        return  # A system interpreter that has Pydantic and little more.
    gc.freeze()


class Server:
    def __init__(self, folder: str, address: str, limits: confine.Limits) -> None:
        self.folder = folder
        self.address = address
        self.limits = limits
        self.pids: dict[int, int] = {}  # number by process id
        self.is_mounted = room.separate(folder)
        self.watch = watch.Watch(folder, limits, self.is_mounted)
        self.pending = b""  # The beginning of an incomplete order.
        self.exceeded: dict[int, str] = {}  # The limit that a tool exceeded and was ended for, by process id.
        self.uncleaned: set[int] = set()  # Numbers of ended processes that may have left processes or files.
        self.sweeping = False
        self.core = frozenset(sys.modules)
        self.own = reach.own()
        self.installed = replaced.Installed(sys.path)
        self.to_load = list(_COMMON)
        # By number: the user of the process, and the claim on that user. Empty unless the server is root.
        self.users: dict[int, tuple[int, socket.socket]] = {}

    def run(self) -> None:
        prctl.become_subreaper()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the server decides.
        signal.signal(signal.SIGTERM, lambda *_: self.stop())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.bell, self.ring = socket.socketpair()
        self.bell.setblocking(False)
        self.ring.setblocking(False)
        signal.set_wakeup_fd(self.ring.fileno(), warn_on_full_buffer=False)
        self.selector = selectors.DefaultSelector()
        self.selector.register(0, selectors.EVENT_READ)
        self.selector.register(self.bell, selectors.EVENT_READ)
        versions = {"python": platform.python_version(), "pydantic": pydantic.VERSION}
        reports.send({"kind": "ready", **versions, "missing": confine.missing(self.is_mounted)})
        while True:
            ready = {key.fd for key, _ in self.selector.select(self.patience())}
            if not ready and self.to_load:
                load_common(self.to_load.pop(0))
            if self.bell.fileno() in ready:
                self.bell.recv(4096)
            self.reap()
            self.keep_watch()
            self.take_orders()

    def patience(self) -> Optional[float]:
        if self.to_load:
            return 0
        if self.sweeping:
            return _SWEEP_SECONDS
        return self.watch.patience() if self.pids else None

    def keep_watch(self) -> None:
        """Ends the tools that exceed a limit, and processes that detached from their tool, because they
        cannot be counted.
        """
        if not self.pids or not self.watch.is_due():
            return
        self.sweep()
        over = self.watch.look({pid: self.scratch_of(number) for pid, number in self.pids.items()})
        if "cpu" in over.values():
            # The time of a call that arrived meanwhile counts anew.
            self.take_orders()
            over = {pid: limit for pid, limit in over.items() if limit != "cpu" or not self.watch.is_renewed(pid)}
        for pid, limit in over.items():
            self.exceeded[pid] = limit
            processes.end(pid)

    def take_orders(self) -> None:
        """Takes the orders that have arrived. Does not wait for others, because tools are watched meanwhile.
        """
        if not select.select([0], [], [], 0)[0]:
            return
        received = os.read(0, 65536)
        if not received:
            self.stop()
        *lines, self.pending = (self.pending + received).split(b"\n")
        for line in lines:
            self.obey(json.loads(line))

    def obey(self, order: dict[str, Any]) -> None:
        number = order["number"]
        if order["op"] != "spawn":
            for pid in [pid for pid, owner in self.pids.items() if owner == number]:
                if order["op"] == "kill":
                    processes.end(pid)
                else:
                    self.watch.renew(pid)
            return
        try:
            if prctl.LINUX and os.geteuid() == 0:
                self.users[number] = confine.claim_uid(number)
            pid = os.fork()
        except OSError as error:
            self.release(number)
            reports.send({"kind": "failed", "number": number, "detail": str(error)})
            return
        if pid == 0:
            self.become_tool(number, order["token"], order["packages"])
        self.pids[pid] = number

    def become_tool(self, number: int, token: str, packages: Optional[str]) -> NoReturn:
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            for name in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
                signal.signal(name, signal.SIG_DFL)
            self.selector.close()
            # Shared with this server: a tool that read from it would hide the end of its processes from the
            # server.
            self.bell.close()
            self.ring.close()
            null = os.open(os.devnull, os.O_RDWR)
            for standard in (0, 1, 2):
                os.dup2(null, standard)
            os.setsid()
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(self.address)
            try:
                self.confine(number, packages)
            except OSError as error:
                connection.sendall(channel.encode_json({"kind": "unsafe", "token": token, "detail": str(error)}))
                os._exit(code)
            connection.sendall(channel.encode_json({"kind": "hello", "token": token, "clock": time.monotonic()}))
            gc.enable()
            session.main(connection, self.limits)
            code = 0
        finally:
            os._exit(code)

    def confine(self, number: int, packages: Optional[str]) -> None:
        scratch = self.scratch_of(number)
        os.mkdir(scratch, 0o700)
        uid = None
        if number in self.users:
            uid = self.users[number][0]
            if self.is_mounted:
                room.mount(scratch, self.limits.scratch_bytes, self.limits.scratch_files, uid)
            else:
                os.chown(scratch, uid, uid)
        for _, claim in self.users.values():
            claim.close()
        os.chdir(scratch)
        # One by one: update() looks up the abstract classes of the type, which writes to 700 KB of memory
        # that all tools share.
        os.environ["HOME"] = os.environ["TMPDIR"] = scratch
        tempfile.tempdir = None
        added = []
        if packages:
            added.append(reach.add(packages))
            # Importing all modules again would take a second.
            outdated = self.installed.outdated(packages)
            for name in [name for name in sys.modules if name not in self.core] if outdated else []:
                if name.partition(".")[0] in outdated:
                    del sys.modules[name]
        reach.hide(self.own)
        confine.confine(scratch, uid, added, self.limits)

    def scratch_of(self, number: int) -> str:
        return os.path.join(self.folder, str(number))

    def reap(self) -> None:
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            number = self.pids.pop(pid, None)
            if number is not None:
                processes.end_group(pid)
                self.uncleaned.add(number)
                self.clean_up()
                reports.end(number, status, usage, self.exceeded.pop(pid, None))
                self.sweeping = True
        if self.sweeping:
            self.clean_up()
            self.sweeping = self.sweep() or bool(self.uncleaned)

    def clean_up(self) -> None:
        """Ends the processes and removes the files that ended tools left behind."""
        for number in list(self.uncleaned):
            try:
                if number in self.users:
                    processes.end_all_of(self.users[number][0])
                if self.is_mounted:
                    room.unmount(self.scratch_of(number))
                processes.remove(self.scratch_of(number))
            except OSError:
                continue  # No process could be started for it. The next sweep tries again; the user stays claimed.
            self.release(number)
            self.uncleaned.discard(number)

    def release(self, number: int) -> None:
        user = self.users.pop(number, None)
        if user is not None:
            user[1].close()

    def sweep(self) -> bool:
        """Kills processes that a tool detached from its session: this process is their nearest subreaper, so
        they became its children, and it has no others. Returns True while some are left.
        """
        strays = [pid for pid in processes.children(os.getpid()) if pid not in self.pids]
        for pid in strays:
            processes.end(pid)
        return bool(strays)

    def stop(self) -> NoReturn:
        deadline = time.monotonic() + _STOP_SECONDS
        for pid in list(self.pids):
            processes.end(pid)
        self.sweeping = True
        while (self.pids or self.sweeping) and time.monotonic() < deadline:
            self.reap()
            time.sleep(0.002)
        processes.remove(self.folder)
        os._exit(0)


if __name__ == "__main__":
    gc.disable()
    warm()
    settings = json.loads(sys.argv[1])
    Server(settings["folder"], settings["address"], confine.Limits(**settings["limits"])).run()
