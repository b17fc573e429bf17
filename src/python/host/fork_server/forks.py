"""The fork server's own loop: takes orders, forks processes, watches them, and reports their ends."""

import json
import os
import platform
import select
import selectors
import signal
import socket
import sys
import tempfile
import time
from typing import Any, NoReturn, Optional

import open_webui  # noqa: F401  Tools find it here: they do not search our folder.
import pydantic
from calls import channel, session
from fork_server import processes, reports, room, warm, watch
from loading import replaced
from walls import confine, prctl, reach

_STOP_SECONDS = 5
_SWEEP_SECONDS = 0.05


class ForkServer:
    """Forks, watches and ends the processes of tools."""

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
        self.is_told_to_stop = False
        self.core = frozenset(sys.modules)
        self.own = reach.own()
        self.installed = replaced.Installed(sys.path)
        self.to_load = list(warm.COMMON)
        # By number: the user of the process, and the claim on that user. Empty unless the server is root.
        self.users: dict[int, tuple[int, socket.socket]] = {}

    def run(self) -> None:
        prctl.become_subreaper()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the server decides.
        # Only noted: the handler may run within a fork, which holds locks that another fork would wait for.
        signal.signal(signal.SIGTERM, lambda *_: setattr(self, "is_told_to_stop", True))
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
                warm.load(self.to_load.pop(0))
            if self.bell.fileno() in ready:
                self.bell.recv(4096)
            if self.is_told_to_stop:
                self.stop()
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
        # Only now: when the fork server ends meanwhile, this process still holds its user. Otherwise another fork
        # server could claim the user, and this process would end the tool of that one.
        for _, claim in self.users.values():
            claim.close()

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
