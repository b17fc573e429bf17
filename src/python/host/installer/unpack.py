"""Runs pip so that it unpacks wheels into a folder and does nothing else:

    unpack.py FOLDER ARGUMENT…

`--only-binary` covers what an index offers. pip would build a folder, or a package given by its address,
and a build runs foreign code as the server's own user. So here pip starts no program and writes only to
that folder. pip itself is trusted. The content of packages decides which names pip uses, so those are
checked.
"""

import os
import runpy
import sys
from typing import Any, Callable

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_STARTS = {"subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn"}
# The loader of musl reports its version only this way. `keyring` holds the owner's passwords for an index.
_HARMLESS = ("ld-musl-", "keyring")
# These calls create a path; the number is the position of that path among their arguments.
_PLACED = {"os.rename": 1, "os.link": 1, "os.symlink": 1}


def watch(folder: str) -> Callable[[str, tuple[Any, ...]], None]:
    """An audit hook that allows or refuses each operation of Python. Raises PermissionError."""
    folder = os.path.realpath(folder)

    def may_write(path: Any) -> bool:
        if isinstance(path, int):
            return True
        real = os.path.realpath(os.fsdecode(path))
        return real == os.devnull or real.startswith(folder + os.sep)

    def ask(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if flags & _WRITING and not may_write(path):
                raise PermissionError(f"A package wants to put a file outside of its folder: {path}.")
        elif event in _PLACED:
            if not may_write(arguments[_PLACED[event]]):
                raise PermissionError(f"A package wants to put a file outside of its folder: {arguments[_PLACED[event]]}.")
        elif event in _STARTS and not _is_harmless(event, arguments):
            raise PermissionError("A package would have to be built, or fetched by another program; only wheels are installed.")

    return ask


def _is_harmless(event: str, arguments: tuple[Any, ...]) -> bool:
    if event != "subprocess.Popen":
        return False
    return os.path.basename(os.fsdecode(arguments[0])).startswith(_HARMLESS)


if __name__ == "__main__":
    sys.addaudithook(watch(sys.argv[1]))
    sys.argv[:2] = ["pip"]
    runpy.run_module("pip", run_name="__main__", alter_sys=True)
