"""The settings of a tool, as its own classes Valves and UserValves understand them."""

import asyncio
import inspect
from typing import Any, get_args

from pydantic import AliasChoices, BaseModel, SecretBytes, SecretStr, ValidationError
from pydantic_core import core_schema, to_jsonable_python

_REFUSED = "The tool does not accept this value."
# Problems with a text of Pydantic's own that quotes no value; every other text may be the tool's.
_FIXED = set(get_args(core_schema.ErrorType)) - {"value_error", "assertion_error", "union_tag_invalid"}
_SHORTEST_SECRET = 3
# Of a longer one, no part of this length either: validators like to show how a key begins.
_SHORTEST_PART = 6


def check(model: type[BaseModel], values: dict[str, Any]) -> dict[str, Any]:
    """
    The values as they are to be kept, converted by the class: only those that were given and that it declares (or all, when
    it allows others). Raises ValidationError.
    """
    instance = model.model_validate(values)
    names = _names(model)
    extra = instance.__pydantic_extra__ or {}
    kept = {}
    for key in values:
        if key in names:
            kept[key] = _plain(getattr(instance, names[key]))
        elif key in extra:
            kept[key] = _plain(extra[key])
    return {"values": kept, "ignored": [key for key in values if key not in kept]}


def issues(error: ValidationError, values: Any) -> list[dict[str, str]]:
    """What is wrong with values, without quoting any: they may be secrets."""
    secrets = [text for text in _leaves(values) if len(text) >= _SHORTEST_SECRET]
    found = []
    for problem in error.errors(include_url=False, include_input=False, include_context=False):
        message = problem["msg"]
        if problem["type"] == "missing":
            message = "This value is required."
        elif problem["type"] == "extra_forbidden":
            message = "The tool has no such value."
        elif problem["type"] not in _FIXED and _quotes(message, secrets):
            message = _REFUSED
        found.append({"path": ".".join(map(str, problem["loc"])), "message": message})
    return found


def first_path(error: ValidationError) -> str:
    """Where the first problem is; all that somebody may know who must not see the values."""
    return ".".join(map(str, error.errors(include_url=False, include_input=False)[0]["loc"])) or "all together"


async def resolve_options(model: type[BaseModel], schema: dict[str, Any], user: dict[str, Any]) -> dict[str, Any]:
    """
    The schema with the choices that methods of the class offer: `{"input": {"options": "method"}}`. One that fails leaves
    its name in place.
    """
    properties = {name: await _with_options(model, node, user) for name, node in schema.get("properties", {}).items()}
    return {**schema, "properties": properties} if properties else schema


async def _with_options(model: type[BaseModel], node: Any, user: dict[str, Any]) -> Any:
    hint = node.get("input") if isinstance(node, dict) else None
    name = hint.get("options") if isinstance(hint, dict) else None
    if not isinstance(name, str) or name.startswith("_"):
        return node
    try:
        method = getattr(model, name)
        parameters = inspect.signature(method).parameters
        given = {parameter: user for parameter in ("__user__", "user") if parameter in parameters}
        options = await asyncio.to_thread(method, **given)
        if inspect.isawaitable(options):
            options = await options
        options = to_jsonable_python(options)
    except BaseException:
        return node
    return {**node, "input": {**hint, "options": options}} if isinstance(options, list) else node


def _names(model: type[BaseModel]) -> dict[str, str]:
    """The field that each accepted key sets."""
    by_name = model.model_config.get("populate_by_name") or model.model_config.get("validate_by_name")
    names = {}
    for name, field in model.model_fields.items():
        alias = field.validation_alias
        aliases = alias.choices if isinstance(alias, AliasChoices) else [alias]
        keys = [key for key in aliases if isinstance(key, str)]
        for key in keys if keys and not by_name else [*keys, name]:
            names[key] = name
    return names


def _plain(value: Any) -> Any:
    """As JSON, secrets in clear: Pydantic would write them as asterisks, and they are to be used again."""
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, SecretBytes):
        return value.get_secret_value().decode("utf-8", "replace")
    if isinstance(value, BaseModel):
        fields = {name: getattr(value, name) for name in type(value).model_fields if name in value.model_fields_set}
        return {_key(type(value), name): _plain(part) for name, part in fields.items()} | _plain(
            value.__pydantic_extra__ or {}
        )
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(part) for part in value]
    return to_jsonable_python(value, inf_nan_mode="null")


def _key(model: type[BaseModel], name: str) -> str:
    return next(key for key, field in _names(model).items() if field == name)


def _quotes(message: str, secrets: list[str]) -> bool:
    message = message.casefold()
    parts = {message[start : start + _SHORTEST_PART] for start in range(len(message))}
    return any(
        secret in message or any(secret[start : start + _SHORTEST_PART] in parts for start in range(len(secret) - _SHORTEST_PART + 1))
        for secret in map(str.casefold, secrets)
    )


def _leaves(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in _leaves(part)]
    if isinstance(value, list):
        return [leaf for part in value for leaf in _leaves(part)]
    return [] if value is None or isinstance(value, bool) else [str(value)]
