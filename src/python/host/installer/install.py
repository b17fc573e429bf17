"""Installs one set of packages into a folder of its own, in a process of its own:

    install.py '{"folder", "requirements", "seconds", "bytes"}'

`bytes` bounds their size, downloads included during the installation. `folder` gets `site` (the packages,
complete or absent), `state.json` and `log`. A second installer of the same set waits for the first and
finds the set complete. A recent time of `state.json` tells others that an installer is at work. Only
wheels are installed: no code of a package runs during the installation (`unpack.py` enforces that).
"""

import ctypes
import fcntl
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from typing import Any, NoReturn

# Loaded before any tool, so a set cannot have other versions of these.
_FIXED = ("annotated-types", "packaging", "pydantic", "pydantic-core", "typing-extensions", "typing-inspection")
# How pip names a conflict with one of these.
_CONSTRAINED = "The user requested (constraint) "
# The variables of the server's environment that pip gets: its own settings, the proxy, and certificates.
# Other variables may hold secrets.
_KNOWN = ("PATH", "HOME", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_KNOWN_IN_ANY_CASE = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
# The form that `packages.py` writes. That module runs in the tool's process, so its output is checked again
# before pip gets it: pip would also take a text as an option, an address or a path.
_VERSIONS = r"(~=|==|!=|<=|>=|<|>)[A-Za-z0-9.+!*_-]+"
_REQUIREMENT = re.compile(rf"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\[[A-Za-z0-9._,-]+\])?({_VERSIONS}(,{_VERSIONS})*)?")
_UNPACK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "unpack.py")
_DRAFT = "draft."
_PR_SET_PDEATHSIG = 1
_MEMORY_BYTES = 2 * 1024**3
_OPEN_FILES = 256


class Installation:
    def __init__(self, folder: str, requirements: list[str], seconds: int, size: int) -> None:
        self.folder, self.requirements = os.path.abspath(folder), requirements
        self.seconds, self.size = seconds, size
        self.site, self.draft = self.path("site"), ""

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def run(self) -> None:
        os.makedirs(self.folder, exist_ok=True)
        with open(self.path("lock"), "w") as lock:
            # The system frees the lock when its holder ends for any reason.
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.isdir(self.site):
                return
            self.say("installing", "The packages are being installed.")
            self.remove_drafts()
            # A unique name: an installer that outlived its parent cannot write into the draft of another.
            self.draft = tempfile.mkdtemp(prefix=_DRAFT, dir=self.folder)
            try:
                size = self.fill()
                # Written to disk before it gets its name: a power failure must not leave an incomplete set.
                _write_out(self.draft)
            except Exception as error:
                self.remove_drafts()
                self.say("failed", str(error))
                sys.exit(1)
            os.rename(self.drafted("site"), self.site)
            self.remove_drafts()
            self.say("ready", "The packages are installed.", size)

    def drafted(self, name: str) -> str:
        return os.path.join(self.draft, name)

    def remove_drafts(self) -> None:
        for name in os.listdir(self.folder):
            if name.startswith(_DRAFT):
                shutil.rmtree(self.path(name), ignore_errors=True)

    def fill(self) -> int:
        """Installs the packages into the draft. Returns their size in bytes."""
        if self.size <= 0:
            raise ValueError("The room that this server has for packages of tools is used up.")
        for requirement in self.requirements:
            if not _REQUIREMENT.fullmatch(requirement):
                raise ValueError(f"{requirement!r} is not the name of a package with versions.")
        for name in ("site", "temporary", "empty"):
            os.mkdir(self.drafted(name))
        with open(self.path("constraints.txt"), "w") as file:
            file.writelines(f"{name}=={version}\n" for name, version in _fixed())
        with open(self.path("log"), "wb") as log:
            self.pip(log)
        size = 0
        for folder, _, names in os.walk(self.drafted("site")):
            # The user of a tool reads them, whatever the umask of the server.
            os.chmod(folder, 0o755)
            for name in names:
                path = os.path.join(folder, name)
                if not os.path.islink(path):
                    os.chmod(path, os.stat(path).st_mode | 0o444)
                    size += os.path.getsize(path)
        if size > self.size:
            raise self.excess()
        return size

    def pip(self, log: Any) -> None:
        options = ["--target", self.drafted("site"), "--constraint", self.path("constraints.txt"), "--only-binary", ":all:"]
        options += ["--no-input", "--no-cache-dir", "--disable-pip-version-check", "--progress-bar", "off", "--log", os.devnull]
        # The packages of the environment are not changed, so pip need not read the requirements of each of them.
        options += ["--no-warn-conflicts"]
        command = [sys.executable, "-I", _UNPACK, self.draft, "install", *options, "--", *self.requirements]
        process = subprocess.Popen(
            command,
            # In an empty folder, where no file can match a requirement. Downloaded and unpacked files count.
            cwd=self.drafted("empty"),
            env={**_surroundings(), "TMPDIR": self.drafted("temporary")},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=_end_with_parent,
        )
        signal.signal(signal.SIGTERM, lambda *_: _stop(process))
        deadline = time.monotonic() + self.seconds
        while process.poll() is None:
            if time.monotonic() > deadline:
                os.killpg(process.pid, signal.SIGKILL)
                raise TimeoutError(f"The installation took longer than {self.seconds} s and was stopped.")
            if _disk_use(self.draft) > self.size:
                os.killpg(process.pid, signal.SIGKILL)
                raise self.excess()
            os.utime(self.path("state.json"))
            time.sleep(0.2)
        if process.returncode != 0:
            raise RuntimeError(self.complaint())

    def excess(self) -> Exception:
        return ValueError(f"The packages take more than the {self.size} bytes that are allowed.")

    def complaint(self) -> str:
        """The most useful sentence of pip's log."""
        with open(self.path("log"), encoding="utf-8", errors="replace") as file:
            lines = [line.strip() for line in file]
        errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
        # pip names an unexpected error an exception, with its reason before or after; it names a conflict
        # before its advice.
        errors = [error for error in errors if error != "Exception:" and not error.startswith("ResolutionImpossible")]
        if not errors:
            return "pip failed; its log says more."
        fixed = [line.removeprefix(_CONSTRAINED) for line in lines if line.startswith(_CONSTRAINED)]
        return f"{errors[-1]} This server has {', '.join(fixed)} for all tools." if fixed else errors[-1]

    def say(self, state: str, detail: str, size: int = 0) -> None:
        draft = self.path("state.json.tmp")
        with open(draft, "w") as file:
            json.dump({"state": state, "detail": detail[:2000], "bytes": size}, file)
        os.replace(draft, self.path("state.json"))


def _end_with_parent() -> None:
    """Ends pip with its installer. Without it, pip would run on without limits of time and size."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _surroundings() -> dict[str, str]:
    return {
        name: value
        for name, value in os.environ.items()
        if name in _KNOWN or name.upper() in _KNOWN_IN_ANY_CASE or name.startswith("PIP_")
    }


def _fixed() -> list[tuple[str, str]]:
    return [(name, metadata.version(name)) for name in _FIXED]


def _write_out(folder: str) -> None:
    """Writes the file system of the folder to disk. To sync each file takes far longer, and to sync all file
    systems of the machine waits for other disks. Raises OSError.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "syncfs"):
        os.sync()
        return
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if libc.syncfs(opened) != 0:
            raise OSError(ctypes.get_errno(), "The packages could not be written to disk")
    finally:
        os.close(opened)


def _disk_use(folder: str) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(parent, name)).st_size
            except OSError:
                continue  # Moved meanwhile.
    return total


def _stop(process: "subprocess.Popen[bytes]") -> NoReturn:
    os.killpg(process.pid, signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    os.nice(10)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (_OPEN_FILES, _OPEN_FILES))
    # The bound on one file holds for the installer's own output too.
    file_bytes = max(asked["bytes"], 1024**2)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    Installation(asked["folder"], asked["requirements"], asked["seconds"], asked["bytes"]).run()
