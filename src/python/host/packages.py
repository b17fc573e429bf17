"""The `requirements:` of a tool's frontmatter: what they ask for, and what of it this environment does not have."""

import sys
from importlib import metadata

try:
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name
except ImportError:  # An interpreter of the system that serves as it is: nothing is installed for it.
    Requirement = None

_MOST = 50
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
    found: "list[Requirement]" = []
    if Requirement is None:
        return found
    for part in _split(text):
        try:
            requirement = Requirement(part)
        except InvalidRequirement:
            raise RequirementError(f"The requirement {part!r} is not the name of a package with versions (PEP 508).") from None
        if requirement.url is not None:
            raise RequirementError(f"The requirement {part!r} names an address. Only packages of the index are installed.")
        if requirement.marker is None or requirement.marker.evaluate():
            found.append(requirement)
    if len(found) > _MOST:
        raise RequirementError(f"The tool asks for {len(found)} packages; at most {_MOST} are allowed.")
    return found


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
