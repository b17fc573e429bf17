"""Finds modules that are loaded for all tools but are wrong for a tool whose packages are other versions of
them or of their dependencies.
"""

import contextlib
import os
import re
from collections import defaultdict
from typing import Iterable

# Without requirements that only an extra of the package needs.
_REQUIRES = re.compile(r"^Requires-Dist: *([A-Za-z0-9._-]+)(?!.*extra *==)", re.MULTILINE)
# The first part of the path of each file that is code of the package.
_TOP = re.compile(r"^([A-Za-z_]\w*)(?:/|\.py,|\.[\w-]+\.so,)", re.MULTILINE)


class Installed:
    """The packages of the environment: names, modules, and dependencies."""

    def __init__(self, folders: Iterable[str]) -> None:
        self.versions: dict[str, str] = {}
        self.modules: defaultdict[str, set[str]] = defaultdict(set)
        self.builders: defaultdict[str, set[str]] = defaultdict(set)
        for name, version, place in listed(folders):
            if name not in self.versions:
                self.versions[name] = version
                self.modules[name].update(_TOP.findall(_read(place, "RECORD")))
                for needed in _REQUIRES.findall(_read(place, "METADATA")):
                    self.builders[_normalise(needed)].add(name)

    def outdated(self, folder: str) -> set[str]:
        """The modules, by the first part of their names, that the packages of that folder would replace."""
        waiting = [name for name, version, _ in listed([folder]) if self.versions.get(name, version) != version]
        names: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name not in names:
                names.add(name)
                waiting.extend(self.builders.get(name, ()))
        return {module for name in names for module in self.modules.get(name, ())}


def listed(folders: Iterable[str]) -> Iterable[tuple[str, str, str]]:
    """Name, version and path of each package; of several with one name, the first is the one that Python
    imports.
    """
    for folder in folders:
        with contextlib.suppress(OSError):
            for entry in os.listdir(folder):
                name, _, rest = entry.partition("-")
                if rest.endswith(".dist-info"):
                    yield _normalise(name), rest.removesuffix(".dist-info"), os.path.join(folder, entry)


def _normalise(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _read(place: str, name: str) -> str:
    with contextlib.suppress(OSError), open(os.path.join(place, name), encoding="utf-8", errors="replace") as file:
        return file.read()
    return ""
