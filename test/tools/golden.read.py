"""
What `peer-wire.md` 4.4 demands of the sources named, read from their text alone and independently of the server: nothing is imported
or run. Prints JSON: by file, by function, what its specification must have.
"""

import ast
import json
import sys

SIMPLE = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}


def describe(text: str) -> tuple[str, dict[str, str]]:
    """The lines before the first field, and the first line of each parameter's."""
    lines = [line.strip() for line in text.strip().splitlines()]
    end = next((n for n, line in enumerate(lines) if line.startswith((":param", ":return"))), len(lines))
    fields = [line.removeprefix(":param ").split(":", 1) for line in lines if line.startswith(":param ")]
    return "\n".join(lines[:end]).strip(), {name.split()[-1]: said.strip() for name, said in fields}


def default_of(written: "ast.expr | None") -> "ast.expr | None":
    """`Field(...)` with three dots says that there is none."""
    if isinstance(written, ast.Call) and ast.unparse(written).startswith("Field(..."):
        return None
    return written


def demand(function: "ast.FunctionDef | ast.AsyncFunctionDef", is_method: bool) -> dict:
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
    pairs = [*zip(positional, defaults)][1 if is_method else 0 :] + [*zip(arguments.kwonlyargs, arguments.kw_defaults)]
    shown = [(argument, default_of(default)) for argument, default in pairs if not argument.arg.startswith("_")]
    description, said = describe(ast.get_docstring(function) or "")
    types, values = {}, {}
    for argument, default in shown:
        if isinstance(argument.annotation, ast.Name) and argument.annotation.id in SIMPLE:
            types[argument.arg] = SIMPLE[argument.annotation.id]
        if argument.annotation is None:
            types[argument.arg] = "string"
        try:
            values[argument.arg] = ast.literal_eval(default) if default is not None else None
            json.dumps(values[argument.arg])
        except (ValueError, TypeError):
            values.pop(argument.arg, None)
    return {
        "description": description,
        "parameters": [argument.arg for argument, _ in shown],
        "required": [argument.arg for argument, default in shown if default is None],
        "types": types,
        "defaults": {name: value for name, value in values.items() if value is not None},
        "without_default": [name for name, value in values.items() if value is None],
        "said": {name: text for name, text in said.items() if name in [argument.arg for argument, _ in shown]},
    }


def read(path: str) -> dict:
    with open(path, encoding="utf-8-sig") as file:
        tree = ast.parse(file.read())
    tools = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Tools")
    functions = [node for node in tools.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    kinds = {node.name: {d.id for d in node.decorator_list if isinstance(d, ast.Name)} for node in functions}
    return {
        node.name: demand(node, "staticmethod" not in kinds[node.name])
        for node in functions
        if not node.name.startswith("_") and "property" not in kinds[node.name]
    }


print(json.dumps({path: read(path) for path in sys.argv[1:]}))
