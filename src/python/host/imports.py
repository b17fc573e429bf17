"""
Imports within functions. Nothing meets them while a source is loaded, so whoever stores a tool would learn of one that leads nowhere
only from those who call it.
"""

import ast
import importlib
import importlib.util
import re
import sys
from typing import Iterator, Optional, Union

Import = Union[ast.Import, ast.ImportFrom]

# Most sources have none, and to walk a tree takes a while.
_MAY_HOLD = re.compile(r"(?:^[ \t]+|[:;][ \t]*)(?:from|import)\b", re.MULTILINE)
_CAUGHT = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


def problem(place: str, module: str, name: Optional[str] = None) -> str:
    """One sentence about an import that cannot be resolved: of a module, or of a name in it. `place`: as ` in line 5`, or empty."""
    wanted = module if name is None else f"{name} of {module}"
    if module.partition(".")[0] == "open_webui":
        return f"The import{place} needs {wanted}, which this server does not offer."
    return f"The import{place} needs {wanted}, which is not here; name its package in the requirements of the frontmatter."


def unresolved(content: str, tree: ast.Module, is_complete: bool) -> Optional[str]:
    """
    The first problem of an import that a function meets whichever way it goes; None when there is none. Those that the tool is ready
    to do without are left alone: under an `if`, and where an ImportError is caught. Unless the packages that the tool asks for are
    complete, only `open_webui` is judged.
    """
    if not _MAY_HOLD.search(content):
        return None
    for node in _within(tree.body, False):
        for module, name in _wanted(node):
            missing = _missing(module, name, is_complete)
            if missing is not None:
                return problem(f" in line {node.lineno}", *missing)
    return None


def _within(statements: list[ast.stmt], is_function: bool) -> Iterator[Import]:
    """Only statements are looked at, and never the many expressions that they are made of."""
    for node in statements:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if is_function:
                yield node
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _within(node.body, True)
        elif isinstance(node, (ast.ClassDef, ast.For, ast.AsyncFor, ast.While)):
            yield from _within(node.body, is_function)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            if not any("suppress" in ast.unparse(item.context_expr) for item in node.items):
                yield from _within(node.body, is_function)
        elif isinstance(node, ast.Try):
            body = [] if any(map(_catches, node.handlers)) else [*node.body, *node.orelse]
            yield from _within([*body, *node.finalbody], is_function)


def _catches(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or (isinstance(kind, ast.Name) and kind.id in _CAUGHT) for kind in kinds)


def _wanted(node: Import) -> list[tuple[str, Optional[str]]]:
    """Modules, each with the name in it that is wanted."""
    if isinstance(node, ast.Import):
        return [(alias.name, None) for alias in node.names]
    if node.level > 0 or node.module is None:
        return []
    return [(node.module, None if alias.name == "*" else alias.name) for alias in node.names]


def _missing(module: str, name: Optional[str], is_complete: bool) -> Optional[tuple[str, Optional[str]]]:
    """What of a module, and of a name in it, is not here; None when both are."""
    top = module.partition(".")[0]
    if top == "open_webui":
        try:
            found = importlib.import_module(module)
        except ImportError as error:
            return error.name or module, None
        is_there = name is None or hasattr(found, name) or importlib.util.find_spec(f"{module}.{name}") is not None
        return None if is_there else (module, name)
    try:
        # Of others only the first part is looked up: to find what lies below would run it.
        is_there = not is_complete or top in sys.modules or importlib.util.find_spec(top) is not None
    except Exception:
        is_there = True  # The tool finds modules in a way of its own, and it is not for us to fail at it.
    return None if is_there else (top, None)
