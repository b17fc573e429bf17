"""The `requirements:` of a tool's frontmatter: what they ask for, and what of it this environment does not have."""

import re
import sys
from importlib import metadata
from typing import Optional

try:
    from packaging.markers import InvalidMarker, UndefinedComparison, UndefinedEnvironmentName
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name
except ImportError:  # An interpreter of the system that serves as it is: nothing is installed for it.
    Requirement = None

_MOST = 50
_MOST_CHARACTERS = 8_192
_QUOTED_CHARACTERS = 200
# `===` takes any text for a version, and pip takes a text with slashes for a folder that it is to build.
_VERSION = re.compile(r"[A-Za-z0-9.+!*_-]+")
# A part that begins so goes on with the versions of the one before it.
_VERSIONS = ("<", ">", "=", "!", "~")
# Asked for by their authors' habit: modules that this environment has under another name.
_PROVIDED = {"open-webui", "bs4"}


class RequirementError(Exception):
    """The message is one sentence for the author of the tool."""


def parse(text: str) -> "list[Requirement]":
    """
    The comma-separated requirements (PEP 508) that apply here. Options, addresses and whatever else is not the name of a
    package with versions is refused: it would tell the installer where to take code from.
    """
    if Requirement is None:
        return []
    if len(text) > _MOST_CHARACTERS:
        raise RequirementError(f"The requirements have {len(text)} characters; at most {_MOST_CHARACTERS} are allowed.")
    found = [requirement for requirement in map(_read, _split(text)) if requirement is not None]
    if len(found) > _MOST:
        raise RequirementError(f"The tool asks for {len(found)} packages; at most {_MOST} are allowed.")
    return found


def _read(part: str) -> "Optional[Requirement]":
    """One requirement; None when its marker says that it does not apply here."""
    quoted = repr(part if len(part) <= _QUOTED_CHARACTERS else part[:_QUOTED_CHARACTERS] + "…")
    try:
        requirement = Requirement(part)
        applies = requirement.marker is None or requirement.marker.evaluate()
    # A marker can compare what has no order, and be nested without end.
    except (InvalidRequirement, InvalidMarker, UndefinedComparison, UndefinedEnvironmentName, RecursionError):
        raise RequirementError(f"The requirement {quoted} is not the name of a package with versions (PEP 508).") from None
    if requirement.url is not None:
        raise RequirementError(f"The requirement {quoted} names an address. Only packages of the index are installed.")
    for one in requirement.specifier:
        if one.operator == "===" or not _VERSION.fullmatch(one.version):
            raise RequirementError(f"The requirement {quoted} names a version with '==='. Use '=='.")
    return requirement if applies else None


def missing(requirements: "list[Requirement]") -> list[str]:
    """Those that are not met here, in one form and order, so that tools that ask for the same share it."""
    return sorted({_normalise(requirement) for requirement in requirements if not _is_met(requirement)})


def _split(text: str) -> list[str]:
    """At commas; those between versions and between extras belong to one requirement."""
    parts: list[str] = []
    depth = 0
    for piece in text.split(","):
        if parts and (depth > 0 or piece.strip().startswith(_VERSIONS)):
            parts[-1] += f",{piece}"
        else:
            parts.append(piece)
        depth += sum(piece.count(bracket) for bracket in "[(") - sum(piece.count(bracket) for bracket in "])")
    return [part.strip() for part in parts if part.strip()]


def _is_met(requirement: "Requirement") -> bool:
    name = canonicalize_name(requirement.name)
    # The index has packages under some names of the standard library: old copies that break it.
    if name in _PROVIDED or requirement.name in sys.stdlib_module_names:
        return True
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return not requirement.extras and requirement.specifier.contains(version, prereleases=True)


def _normalise(requirement: "Requirement") -> str:
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    return f"{canonicalize_name(requirement.name)}{extras}{requirement.specifier}"
