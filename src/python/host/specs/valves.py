"""The settings of a tool, as its own classes Valves and UserValves define them."""

import asyncio
import inspect
from typing import Any, Optional, get_args

from pydantic import AliasChoices, BaseModel, SecretBytes, SecretStr, ValidationError, create_model
from pydantic_core import core_schema, to_jsonable_python
from specs import specification

_REFUSED = "The tool does not accept this value."
# Problems with a text of Pydantic's own that quotes no value; every other text may come from the tool.
_FIXED = set(get_args(core_schema.ErrorType)) - {"value_error", "assertion_error", "union_tag_invalid"}
_SHORTEST_SECRET = 3
# Of a longer secret, no part of this length may appear either: validators like to show how a key begins.
_SHORTEST_PART = 6
# Half of the server's total time limit.
_OPTIONS_SECONDS = 5


def describe(name: str, model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a class of valves. Raises SpecificationError."""
    try:
        return _schema_of(model)
    except Exception as error:
        for field, info in model.model_fields.items():
            try:
                _schema_of(create_model(name, __config__=model.model_config, **{field: (info.annotation, info)}))
            except Exception as problem:
                raise specification.SpecificationError(
                    f"The value {field} of the class {name} has no JSON form: {specification.reason(problem)}"
                ) from None
        raise specification.SpecificationError(f"The class {name} cannot be described: {specification.reason(error)}") from None


def _schema_of(model: type[BaseModel]) -> dict[str, Any]:
    schema = specification.schema_of(model)
    specification.require_json(schema)
    return schema


def check(model: type[BaseModel], values: dict[str, Any]) -> dict[str, Any]:
    """The values in the form to store, converted by the class: only given values that the class declares (or
    all, when it allows others). Raises ValidationError.
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
    ignored = [key for key in values if key not in kept]
    return {"values": _lasting(model, instance, kept, {key: values[key] for key in kept}), "ignored": ignored}


def _lasting(model: type[BaseModel], instance: BaseModel, kept: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Each call gives the class the stored values. Some classes do not accept their own converted value again
    (`Json`, a prefix that a validator adds): such a value is stored as given. When the class does not say
    which value it is, all are stored as given.
    """
    names = _names(model)
    restored: set[str] = set()
    while True:
        try:
            again = model.model_validate(kept)
            fields = {name for name in names.values() if getattr(again, name) != getattr(instance, name)}
            others = kept
        except ValidationError as error:
            places = [problem["loc"] for problem in error.errors(include_url=False, include_input=False)]
            fields = {names.get(place[0], place[0]) for place in places if place}
            others = given
        except Exception:
            return given  # For example `v.strip()` on a value that has become a number.
        changed = {key for key in kept if names.get(key, key) in fields} - restored
        if not changed:
            return others
        restored |= changed
        kept = {key: given[key] if key in changed else value for key, value in kept.items()}


def issues(error: ValidationError, values: Any) -> list[dict[str, str]]:
    """The problems of values, without quoting any value: they may be secrets."""
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
    """The path of the first problem: all that a caller without the right to see the values may know."""
    return ".".join(map(str, error.errors(include_url=False, include_input=False)[0]["loc"])) or "all together"


async def resolve_options(model: type[BaseModel], schema: dict[str, Any], user: dict[str, Any]) -> dict[str, Any]:
    """The schema with the choices from methods of the class: `{"input": {"options": "method"}}`. When a
    method fails or takes too long, its name stays in place: the other choices are still returned.
    """
    properties = schema.get("properties", {})
    asked = {name: asyncio.ensure_future(_options(model, node, user)) for name, node in properties.items() if _method_of(node)}
    if not asked:
        return schema
    done, late = await asyncio.wait(asked.values(), timeout=_OPTIONS_SECONDS)
    for task in late:
        task.cancel()
    choices = {name: task.result() for name, task in asked.items() if task in done and task.result() is not None}
    found = {name: {**properties[name], "input": {**properties[name]["input"], "options": choices[name]}} for name in choices}
    return {**schema, "properties": {**properties, **found}}


def _method_of(node: Any) -> Optional[str]:
    hint = node.get("input") if isinstance(node, dict) else None
    name = hint.get("options") if isinstance(hint, dict) else None
    return name if isinstance(name, str) and not name.startswith("_") else None


async def _options(model: type[BaseModel], node: Any, user: dict[str, Any]) -> Optional[list[Any]]:
    try:
        method = getattr(model, _method_of(node) or "")
        parameters = inspect.signature(method).parameters
        given = {parameter: user for parameter in ("__user__", "user") if parameter in parameters}
        options = await asyncio.to_thread(method, **given)
        if inspect.isawaitable(options):
            options = await options
        options = to_jsonable_python(options)
    except BaseException:
        return None
    return options if isinstance(options, list) else None


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
    """As JSON, with secrets in clear: Pydantic would mask them with asterisks, and the values are needed
    later.
    """
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
