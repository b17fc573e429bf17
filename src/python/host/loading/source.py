"""Reads a tool's source without running it: its manifest and the imports that must be renamed."""

import ast
import re

# Modules that comparable systems once had at the top level; published tools still import them from there.
_MOVED = frozenset({"apps", "config", "main", "utils"})
# Most sources have no such import, and walking a tree takes a while.
_MAY_MOVE = re.compile(rf"\bfrom(?:\s|\\\r?\n)+(?:{'|'.join(sorted(_MOVED))})\b")
_FROM_MODULE = re.compile(rb"from(?:\s|\\\r?\n)+")
_NEW_LINE = re.compile(rb"\r\n|\r|\n")
_ENTRY = re.compile(r"\s*([A-Za-z_]+):(.*)")
_STRING = re.compile(r"[rRuU]?(\"\"\"|'''|\"|')(.*)\1", re.DOTALL)


class SourceError(Exception):
    """The source cannot be parsed; the message is one sentence that names the line."""


def parse(content: str) -> tuple[str, ast.Module]:
    """The source without its byte order mark, and its tree."""
    content = content.removeprefix("\ufeff")
    try:
        return content, ast.parse(content, "tool.py")
    except SyntaxError as error:
        raise SourceError(f"Syntax error in line {error.lineno or 1}: {error.msg}.") from None
    except ValueError as error:
        raise SourceError(f"The source cannot be read: {error}.") from None
    except (RecursionError, MemoryError):
        raise SourceError("The source is nested too deeply.") from None


def replace_imports(content: str, tree: ast.Module) -> str:
    """Replaces `from utils…` with `from open_webui.utils…`, and likewise `apps`, `config` and `main`. Only
    statements change: strings, comments and modules whose names merely begin alike stay unchanged.
    """
    if not _MAY_MOVE.search(content):
        return content
    moved = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and node.level == 0
        and (node.module or "").partition(".")[0] in _MOVED
    ]
    if not moved:
        return content
    source = content.encode()
    starts = _line_starts(source)
    offsets = sorted((starts[node.lineno - 1] + node.col_offset for node in moved), reverse=True)
    for offset in offsets:
        keyword = _FROM_MODULE.match(source, offset)
        if keyword is not None:
            source = source[: keyword.end()] + b"open_webui." + source[keyword.end() :]
    return source.decode()


def read_manifest(content: str, tree: ast.Module) -> dict[str, str]:
    """The `key: value` lines of the module's docstring, as written; the last of equal keys counts."""
    first = tree.body[0] if tree.body else None
    if not (isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)):
        return {}
    if not isinstance(first.value.value, str):
        return {}
    literal = _STRING.fullmatch(_segment(content, first.value))
    text = literal.group(2) if literal else first.value.value
    entries = (_ENTRY.fullmatch(line) for line in text.splitlines())
    return {entry.group(1): entry.group(2).strip() for entry in entries if entry}


def _line_starts(source: bytes) -> list[int]:
    return [0, *(match.end() for match in _NEW_LINE.finditer(source))]


def _segment(content: str, node: ast.Constant) -> str:
    """The source text of a node. The tree counts in lines and UTF-8 bytes."""
    source = content.encode()
    starts = _line_starts(source)
    end = starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)
    return source[starts[node.lineno - 1] + node.col_offset : end].decode()
