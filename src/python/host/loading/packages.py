"""Reads the `requirements:` of a tool's frontmatter, and finds those that this environment lacks."""

import ast
import re
import sys
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any, Optional

from loading import imports, replaced

try:
    from packaging.markers import InvalidMarker, UndefinedComparison, UndefinedEnvironmentName
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name
except ImportError:  # A system interpreter that is used as it is: nothing is installed for it.
    Requirement = None

_MOST = 50
_MOST_CHARACTERS = 8_192
_QUOTED_CHARACTERS = 200
# `===` accepts any text as a version, and pip takes a text with slashes for a folder to build.
_VERSION = re.compile(r"[A-Za-z0-9.+!*_-]+")
# A part that begins so continues the versions of the part before it.
_VERSIONS = ("<", ">", "=", "!", "~")
# Options of pip that take a value.
_VALUED = frozenset(
    "-c -f -i -r -t --constraint --extra-index-url --find-links --index-url --no-binary --only-binary --platform --proxy "
    "--python-version --requirement --root --target --trusted-host --upgrade-strategy".split()
)
# Names in requirements that this environment satisfies under another name.
_PROVIDED = {"open-webui", "bs4"}


class RequirementError(Exception):
    """The message is one sentence for the author of the tool."""


@dataclass(frozen=True)
class Requirements:
    wanted: "list[Requirement]" = field(default_factory=list)
    """Those that apply here."""
    dropped: list[str] = field(default_factory=list)
    """A sentence for each part that held options of pip, which are left out."""
    malformed: list[str] = field(default_factory=list)
    """A sentence for each part that is no requirement."""


def parse(text: str) -> Requirements:
    """Parses comma-separated requirements (PEP 508). Options, addresses and all other text that is not a
    package name with versions are dropped, because they could make the installer take code from elsewhere.
    Raises RequirementError.
    """
    found = Requirements()
    if Requirement is None:
        return found
    if len(text) > _MOST_CHARACTERS:
        raise RequirementError(f"The requirements have {len(text)} characters; at most {_MOST_CHARACTERS} are allowed.")
    for part in _split(text):
        plain, options = _without_options(part)
        if options:
            found.dropped.append(f"The requirement {_quote(part)} has options of pip, which are left out: {_quote(' '.join(options))}.")
        try:
            requirement = _read(plain) if plain else None
        except RequirementError as error:
            found.malformed.append(str(error))
        else:
            found.wanted.extend([] if requirement is None else [requirement])
    if len(found.wanted) > _MOST:
        raise RequirementError(f"The tool asks for {len(found.wanted)} packages; at most {_MOST} are allowed.")
    return found


def _without_options(part: str) -> tuple[str, list[str]]:
    """The part without pip's options and their values, and the removed options."""
    if not part.startswith("-") and " -" not in part:
        return part, []
    words, options, is_value = [], [], False
    for word in part.split():
        is_option = is_value or word.startswith("-")
        (options if is_option else words).append(word)
        is_value = not is_value and word in _VALUED
    return " ".join(words), options


def _quote(text: str) -> str:
    return repr(text if len(text) <= _QUOTED_CHARACTERS else text[:_QUOTED_CHARACTERS] + "…")


def _read(part: str) -> "Optional[Requirement]":
    """One requirement; None when its marker excludes this system."""
    quoted = _quote(part)
    try:
        requirement = Requirement(part)
        applies = requirement.marker is None or requirement.marker.evaluate()
    # A marker can compare values that have no order, and be nested without limit.
    except (InvalidRequirement, InvalidMarker, UndefinedComparison, UndefinedEnvironmentName, RecursionError):
        raise RequirementError(f"The requirement {quoted} is not the name of a package with versions (PEP 508).") from None
    if requirement.url is not None:
        raise RequirementError(f"The requirement {quoted} names an address. Only packages of the index are installed.")
    for one in requirement.specifier:
        if one.operator == "===" or not _VERSION.fullmatch(one.version):
            raise RequirementError(f"The requirement {quoted} names a version with '==='. Use '=='.")
    return requirement if applies else None


def missing(requirements: "list[Requirement]") -> list[str]:
    """The requirements that are not met, in canonical form and order, so that tools with equal requirements
    share a set.
    """
    if not requirements:
        return []
    # Read from the names of the folders: `importlib.metadata` takes two milliseconds for each package.
    versions: dict[str, str] = {}
    for name, version, _ in replaced.listed(sys.path):
        versions.setdefault(name, version)
    return sorted({_normalise(requirement) for requirement in requirements if not _is_met(requirement, versions)})


def named(names: "list[str]") -> list[str]:
    """Packages as `missing` writes them."""
    return sorted({canonicalize_name(name) for name in names}) if Requirement is not None else []


def needed(tree: ast.Module, text: str, load: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The missing packages of a source, and warnings for its author. Packages that only imports imply are
    added once the named ones are installed: until then, a named package may bring the module. Raises
    RequirementError.
    """
    asked = parse(text)
    lacking = [one for one in missing(asked.wanted) if one not in load["installed"]]
    if not load["is_new"]:
        return lacking, []
    absent = imports.absent(tree)
    if asked.malformed and absent:
        raise RequirementError(asked.malformed[0])
    guesses = {} if lacking else {module: name for module, name in absent.items() if name}
    implied = [one for one in named(list(guesses.values())) if one not in load["installed"]]
    notes = [f"The source imports {', '.join(guesses)} without a requirement; implied: {', '.join(implied)}."] if implied else []
    return lacking or implied, [*asked.dropped, *asked.malformed, *notes]


def _split(text: str) -> list[str]:
    """Splits at commas, except between versions and between extras of one requirement."""
    parts: list[str] = []
    depth = 0
    for piece in text.split(","):
        if parts and (depth > 0 or piece.strip().startswith(_VERSIONS)):
            parts[-1] += f",{piece}"
        else:
            parts.append(piece)
        depth += sum(piece.count(bracket) for bracket in "[(") - sum(piece.count(bracket) for bracket in "])")
    return [part.strip() for part in parts if part.strip()]


def _is_met(requirement: "Requirement", versions: dict[str, str]) -> bool:
    name = canonicalize_name(requirement.name)
    # The index has packages under some names of the standard library: old copies that break it.
    if name in _PROVIDED or requirement.name in sys.stdlib_module_names:
        return True
    try:
        version = versions.get(name) or metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return not requirement.extras and requirement.specifier.contains(version, prereleases=True)


def _normalise(requirement: "Requirement") -> str:
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    return f"{canonicalize_name(requirement.name)}{extras}{requirement.specifier}"
