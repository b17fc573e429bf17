"""Reads the imports of a source without running it: imports within functions that cannot be resolved
(otherwise only a call would find them), missing parts of `open_webui`, and packages that top-level imports
need and the frontmatter does not name.
"""

import ast
import importlib
import importlib.util
import re
import sys
from typing import Iterator, Literal, Optional, Union

import unoffered
from loading.module_names import package_of

Import = Union[ast.Import, ast.ImportFrom]

# Most sources have no such import, and walking a tree takes a while.
_MAY_HOLD = re.compile(r"(?:^[ \t]+|[:;][ \t]*)(?:from|import)\b", re.MULTILINE)
_CAUGHT = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
_MOST_WARNINGS = 20


def problem(place: str, module: str, name: Optional[str] = None) -> str:
    """One sentence about an import that cannot be resolved: a module, or a name in it. `place`: as ` in line
    5`, or empty.
    """
    wanted = module if name is None else f"{name} of {module}"
    if module.partition(".")[0] == "open_webui":
        return f"The import{place} needs {wanted}, which this server does not offer."
    return f"The import{place} needs {wanted}, which is not here; name its package in the requirements of the frontmatter."


def unresolved(content: str, tree: ast.Module, is_complete: bool) -> list[str]:
    """A sentence for each import that a function always reaches and that cannot be resolved, at most 20.
    Optional imports are ignored: those under an `if`, and those with a handler of ImportError. Returns no
    sentence unless the required packages are complete. Ignores `open_webui`.
    """
    if not is_complete or not _MAY_HOLD.search(content):
        return []
    found: dict[str, str] = {}
    for node in _unconditional(tree.body, "functions"):
        for module, _ in _wanted(node):
            top = module.partition(".")[0]
            if top != "open_webui" and not _is_there(top):
                found.setdefault(top, problem(f" in line {node.lineno}", top))
    return list(found.values())[:_MOST_WARNINGS]


def provide(content: str, tree: ast.Module) -> list[str]:
    """Makes missing parts of `open_webui` importable, except where the source handles ImportError and so has
    an alternative. Returns a sentence for each import that the source always reaches, at most 20.
    """
    if "open_webui" not in content:
        return []
    found: dict[tuple[str, Optional[str]], str] = {}
    for node, is_certain in _relied_on(tree.body, True):
        for module, name in _wanted(node):
            missing = _put(module, name) if module.partition(".")[0] == "open_webui" else None
            if missing is not None and is_certain:
                found.setdefault(missing, f"{problem(f' in line {node.lineno}', *missing)[:-1]}: what uses it fails.")
    return list(found.values())[:_MOST_WARNINGS]


def _put(module: str, name: Optional[str]) -> Optional[tuple[str, Optional[str]]]:
    """The missing module of `open_webui`, or the missing name in it; None when both exist."""
    try:
        found = importlib.import_module(module)
    except ImportError as error:
        unoffered.put_module(module)
        return error.name or module, None
    except Exception:
        return None  # The source gets the same error.
    is_package = hasattr(found, "__path__")
    if name is None or hasattr(found, name) or (is_package and importlib.util.find_spec(f"{module}.{name}") is not None):
        return None
    unoffered.put_member(module, name)
    return module, name


def absent(tree: ast.Module) -> dict[str, Optional[str]]:
    """The missing modules that the source imports while it loads, as written, each with its package on the
    index: a known other name, or its own. None where the package cannot be guessed. Ignores `open_webui`
    and the standard library.
    """
    found: dict[str, Optional[str]] = {}
    for node in _unconditional(tree.body, "module"):
        for module, _ in _wanted(node):
            top = module.partition(".")[0]
            if top != "open_webui" and top not in sys.stdlib_module_names and not _is_there(top):
                found.setdefault(module, package_of(module))
    return found


def _unconditional(statements: list[ast.stmt], where: Literal["module", "functions"], is_function: bool = False) -> Iterator[Import]:
    """The imports that run while the source loads, or those that run in functions. Looks at statements only,
    never at expressions.
    """
    for node in statements:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if is_function == (where == "functions"):
                yield node
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if where == "functions":
                yield from _unconditional(node.body, where, True)
        elif isinstance(node, (ast.ClassDef, ast.For, ast.AsyncFor, ast.While)):
            yield from _unconditional(node.body, where, is_function)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            if not any("suppress" in ast.unparse(item.context_expr) for item in node.items):
                yield from _unconditional(node.body, where, is_function)
        elif isinstance(node, ast.Try):
            body = [] if any(map(_catches, node.handlers)) else [*node.body, *node.orelse]
            yield from _unconditional([*body, *node.finalbody], where, is_function)


def _relied_on(statements: list[ast.stmt], is_certain: bool) -> Iterator[tuple[Import, bool]]:
    """All imports whose failure the source does not handle, each with whether the source always reaches it.
    """
    for node in statements:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node, is_certain
        elif isinstance(node, ast.If):
            if "TYPE_CHECKING" not in ast.unparse(node.test):
                yield from _relied_on([*node.body, *node.orelse], False)
        elif isinstance(node, ast.Try):
            body = [] if any(map(_catches, node.handlers)) else [*node.body, *node.orelse]
            yield from _relied_on([*body, *node.finalbody], is_certain)
            for handler in node.handlers:
                yield from _relied_on(handler.body, False)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            if not any("suppress" in ast.unparse(item.context_expr) for item in node.items):
                yield from _relied_on(node.body, is_certain)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.For, ast.AsyncFor, ast.While)):
            yield from _relied_on(node.body, is_certain)


def _catches(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or (isinstance(kind, ast.Name) and kind.id in _CAUGHT) for kind in kinds)


def _wanted(node: Import) -> list[tuple[str, Optional[str]]]:
    """Modules, each with the imported name."""
    if isinstance(node, ast.Import):
        return [(alias.name, None) for alias in node.names]
    if node.level > 0 or node.module is None:
        return []
    return [(node.module, None if alias.name == "*" else alias.name) for alias in node.names]


def _is_there(top: str) -> bool:
    """Only the first part of a module's name is looked up: finding its submodules would run it."""
    try:
        return top in sys.modules or importlib.util.find_spec(top) is not None
    except Exception:
        return True  # The tool finds modules in its own way; that is not an error here.
