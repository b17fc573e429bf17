"""Which imports of a source cannot be carried out here; asked before the source runs."""

import ast
import importlib.util
from typing import Iterator

_STAND_IN = "open_webui"
_MOST_NAMED = 5


class UnresolvedError(Exception):
    """The message names modules and lines, for the author of the tool."""


def require(tree: ast.Module) -> None:
    """
    Raises UnresolvedError. Imports in functions, in conditions and in `try` are their author's to handle: they may never run.
    """
    problems = [
        _describe(line, module) for line, module in _imported(tree.body) if module is not None and not _is_here(module)
    ]
    if problems:
        more = f" And {len(problems) - _MOST_NAMED} more." if len(problems) > _MOST_NAMED else ""
        raise UnresolvedError(" ".join(problems[:_MOST_NAMED]) + more)


def _imported(body: list[ast.stmt]) -> Iterator["tuple[int, str | None]"]:
    for node in body:
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.lineno, node.module
        elif isinstance(node, (ast.ClassDef, ast.With)):
            yield from _imported(node.body)


def _is_here(module: str) -> bool:
    # Of other packages the outer name alone: asking for an inner one would run code of the package.
    top = module.partition(".")[0]
    try:
        return importlib.util.find_spec(module if top == _STAND_IN else top) is not None
    except ModuleNotFoundError:
        return False
    except ValueError:
        return True  # Loaded in a way that says nothing of where from, such as `__main__`.


def _describe(line: int, module: str) -> str:
    if module.partition(".")[0] == _STAND_IN:
        return f"Line {line}: the module {module} is not offered by this server."
    return f"Line {line}: there is no module {module} here; name its package in the requirements of the frontmatter."
