"""Reads the description of a function and of its parameters from the docstring."""

import re

_DOC_FIELD = re.compile(
    r":(params?|parameter|arg|argument|key|keyword|type|returns?|rtype|raises?|except|exception|yields?)\b([^:]*):(.*)"
)
_PARAMETER_FIELDS = frozenset({"param", "params", "parameter", "arg", "argument", "key", "keyword"})


def read(text: str) -> tuple[str, dict[str, str], str]:
    """Description, texts of the parameters, text of the result. A field ends where the next one begins."""
    description: list[str] = []
    parameters: dict[str, list[str]] = {}
    returns: list[str] = []
    current = description
    for line in map(str.strip, text.splitlines()):
        field = _DOC_FIELD.match(line)
        if field is None:
            if line.startswith((":param", ":return")):
                current = []  # Text of another form belongs neither to a parameter nor to the function.
            current.append(line)
            continue
        kind, subject, rest = field.groups()
        words = subject.split()
        if kind in _PARAMETER_FIELDS and words:
            current = parameters[words[-1]] = []
        elif kind in ("return", "returns"):
            current = returns
        else:
            current = []
        current.append(rest.strip())
    joined = {name: "\n".join(lines).strip() for name, lines in parameters.items()}
    return "\n".join(description).strip(), joined, "\n".join(returns).strip()
