"""The `requirements:` of a tool's frontmatter: what they ask for, and what of it this environment does not have."""

import ast
import re
import sys
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any, Optional

import imports
import replaced

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
# Options of pip that are followed by a value.
_VALUED = frozenset(
    "-c -f -i -r -t --constraint --extra-index-url --find-links --index-url --no-binary --only-binary --platform --proxy "
    "--python-version --requirement --root --target --trusted-host --upgrade-strategy".split()
)
# Asked for by their authors' habit: modules that this environment has under another name.
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
    """
    The comma-separated requirements (PEP 508). Options, addresses and whatever else is not the name of a package with versions would
    tell the installer where to take code from, so nothing of that is passed on. Raises RequirementError.
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
    """What is left of a part without options of pip and their values, and these."""
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
    """One requirement; None when its marker says that it does not apply here."""
    quoted = _quote(part)
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
    if not requirements:
        return []
    # By the names of their folders: to read what `importlib.metadata` says takes two milliseconds for each package.
    versions: dict[str, str] = {}
    for name, version, _ in replaced.listed(sys.path):
        versions.setdefault(name, version)
    return sorted({_normalise(requirement) for requirement in requirements if not _is_met(requirement, versions)})


def named(names: "list[str]") -> list[str]:
    """Packages as `missing` writes them."""
    return sorted({canonicalize_name(name) for name in names}) if Requirement is not None else []


def needed(tree: ast.Module, text: str, load: dict[str, Any]) -> tuple[list[str], list[str]]:
    """
    The packages that a source needs and that are not here, with what its author should know. Those that only its imports tell of
    are added once the named ones are installed: until then, one of these may bring the module. Raises RequirementError.
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
