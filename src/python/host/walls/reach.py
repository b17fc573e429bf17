"""Keeps Python's own folders readable for a process that has changed its user.

When root starts the server, the server and its Python environment often lie in a folder that only root may
enter. A folder that is held open can be reached through /proc/self/fd without passing its parents, so the
search path and the loaded packages are pointed there. The files keep their permissions; nothing is copied.
"""

import functools
import os
import pathlib
import posixpath
import stat
import sys
from typing import Any

# Our modules that a tool can import: the entry of the process, and the stand-ins with what they need.
_VISIBLE = ("__main__", "bridge", "open_webui")
# The addresses in use, each with a trailing slash.
_addresses: list[str] = []


def pin() -> dict[str, str]:
    """The folders of the search path by their first names, each with itself or the address that replaces it.
    """
    # A system prefix holds more than Python; `fence` names the parts that tools may read.
    prefix = [] if sys.base_prefix in ("/usr", "/usr/local") else [sys.base_prefix]
    folders = [path for path in dict.fromkeys([*sys.path, *prefix]) if os.path.isdir(path)]
    pinned = {}
    for path in sorted(folders):
        pinned[path] = _pin(path)
    sys.path[:] = [pinned.get(path, path) for path in sys.path]
    for module in list(sys.modules.values()):
        search = getattr(module, "__path__", None)
        if isinstance(search, list):
            search[:] = [_moved(path, pinned) for path in search]
    return pinned


def add(folder: str) -> str:
    """Puts a folder of packages in front of those of the environment; returns its address."""
    address = _pin(folder)
    # After our own modules and the standard library, which no package may replace.
    packages = [index for index, path in enumerate(sys.path) if os.path.isdir(os.path.join(path, "pydantic"))]
    sys.path.insert(packages[0] if packages else len(sys.path), address)
    return address


def own() -> list[str]:
    """The names of our own modules, except those that the stand-ins import when a tool first uses them."""
    # Modules that were loaded before `pin` have the first path of our folder.
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folders = (sys.path[0] + os.sep, home + os.sep)
    return [
        name
        for name, module in sys.modules.items()
        if name.partition(".")[0] not in _VISIBLE and (getattr(module, "__file__", None) or "").startswith(folders)
    ]


def hide(modules: list[str]) -> None:
    """Removes our own folder from the search path: `import source` then finds a package of that name or
    fails.
    """
    for name in modules:
        sys.modules.pop(name, None)
    del sys.path[0]


def _pin(path: str) -> str:
    if os.geteuid() != 0 or not os.path.isdir("/proc/self/fd") or _open_to_all(path):
        return path
    address = f"/proc/self/fd/{os.open(path, os.O_PATH | os.O_DIRECTORY)}"
    if not _addresses:
        _keep_addresses()
    _addresses.append(f"{address}/")
    return address


def _keep_addresses() -> None:
    """From now on, `os.path.realpath` and `Path.resolve` return an address unchanged. Packages use them to
    find their own files, and the real path of the folder has parents that are closed.
    """
    resolve = posixpath.realpath

    @functools.wraps(resolve)
    def realpath(filename: Any, **how: Any) -> Any:
        path = os.path.abspath(filename)
        return path if f"{os.fsdecode(path)}/".startswith(tuple(_addresses)) else resolve(filename, **how)

    posixpath.realpath = realpath
    # Python 3.10 has stored its own reference.
    accessor = getattr(pathlib, "_NormalAccessor", None)
    if accessor is not None:
        accessor.realpath = staticmethod(realpath)


def _open_to_all(path: str) -> bool:
    path = os.path.realpath(path)
    while True:
        if not os.stat(path).st_mode & stat.S_IXOTH:
            return False
        parent = os.path.dirname(path)
        if parent == path:
            return True
        path = parent


def _moved(path: str, pinned: dict[str, str]) -> str:
    for folder, address in pinned.items():
        if path.startswith(folder + "/"):
            return address + path[len(folder) :]
    return path
