"""The functions of a tool as models and people see them, and the Pydantic models that check their arguments.
"""

import functools
import inspect
import json
import sys
import types
import typing
import warnings
from dataclasses import dataclass
from typing import Annotated, Any, Callable, Optional

import unoffered
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, PydanticJsonSchemaWarning
from specs import docstring

if sys.version_info < (3, 12):
    import typing_extensions

    # Pydantic supports only this one, and tools import it from Python's own module.
    typing.TypedDict = typing_extensions.TypedDict  # type: ignore[assignment]

_KINDS = {str: "string", int: "integer", float: "number", bool: "boolean"}
_PROPERTIES = (property, functools.cached_property)
_UNLISTED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class _SchemaGenerator(GenerateJsonSchema):
    def encode_default(self, dft: Any) -> Any:
        # Pydantic builds a serializer for the type of each default, which takes a tenth of a tool's load
        # time.
        return dft if type(dft) in (str, int, bool) else super().encode_default(dft)


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema(schema_generator=_SchemaGenerator)


class SpecificationError(Exception):
    """The function cannot be described; the message is one sentence that names function and parameter."""


@dataclass(frozen=True)
class Function:
    target: Callable[..., Any]
    arguments: type[BaseModel]
    """Its field `p0` is the first parameter that the caller fills, and so on."""
    parameters: dict[str, inspect.Parameter]
    """In their order; what begins with an underscore is filled by the server, the others by the caller."""
    specification: dict[str, Any]

    def bind(self, arguments: dict[str, Any], injected: dict[str, Any]) -> Callable[[], Any]:
        """The call, ready to run. Values are converted when nothing is lost ("3" to 3). Types may check
        values with code of the tool: raises ValidationError, and any error of that code.
        """
        values = {**injected, **self._convert(arguments)}
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for name, parameter in self.parameters.items():
            is_empty = parameter.default is inspect.Parameter.empty
            if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
                positional.append(values.get(name, None if is_empty else parameter.default))
            elif name in values or is_empty:
                named[name] = values.get(name)
        return functools.partial(self.target, *positional, **named)

    def _convert(self, arguments: dict[str, Any]) -> dict[str, Any]:
        checked = self.arguments.model_validate(arguments)
        visible = [parameter for name, parameter in self.parameters.items() if not name.startswith("_")]
        values = {}
        for index, parameter in enumerate(visible):
            field = f"p{index}"
            # A default that was not overridden is left to the function, so that the function gets its own
            # object and not a copy. The exception are defaults that only Pydantic can read, as in `x: int =
            # Field(3)` and `x: Annotated[list, Field(default_factory=list)]`.
            is_left = parameter.default is not inspect.Parameter.empty and not isinstance(parameter.default, FieldInfo)
            if field in checked.model_fields_set or not is_left:
                values[parameter.name] = getattr(checked, field)
        return values


def describe(instance: object) -> dict[str, Function]:
    """Every function of the tool by name, alphabetically. Raises SpecificationError."""
    functions = {}
    for name in dir(instance):
        # Reading a property may need settings that the tool does not have yet.
        if name.startswith("_") or isinstance(inspect.getattr_static(instance, name, None), _PROPERTIES):
            continue
        target = getattr(instance, name, None)
        if callable(target) and not inspect.isclass(target) and not _is_held(target):
            functions[name] = _describe_function(name, target)
    return functions


def _is_held(target: Any) -> bool:
    """Attributes that are not functions of the tool: a type (`Money = Union[int, float]`), a class that this
    server does not offer, and a callable without a signature, such as a connection of SQLite or a method
    of a text.
    """
    if isinstance(target, unoffered.Unoffered):
        return True
    if inspect.ismethod(target) or inspect.isfunction(target):
        return False
    if typing.get_origin(target) is not None:
        return True
    try:
        inspect.signature(target)
    except (TypeError, ValueError):
        return True
    return False


def issues(error: ValidationError) -> list[dict[str, str]]:
    """The problems of the arguments in wire form: a dotted path and a sentence."""
    found = []
    for problem in error.errors(include_url=False, include_input=False, include_context=False):
        if problem["type"] == "extra_forbidden":
            message = "There is no parameter of this name."
        elif problem["type"] == "missing":
            message = "This parameter is required."
        else:
            message = problem["msg"]
        found.append({"path": ".".join(map(str, problem["loc"])), "message": message})
    return found


def _describe_function(name: str, target: Callable[..., Any]) -> Function:
    try:
        signature = inspect.signature(target)
    except (TypeError, ValueError):
        raise SpecificationError(f"The function {name} has no signature that can be read; a method takes `self` first.") from None
    parameters = {p.name: p for p in signature.parameters.values() if p.kind not in _UNLISTED}
    visible = {name: parameter for name, parameter in parameters.items() if not name.startswith("_")}
    documented = target.func if isinstance(target, functools.partial) else target
    description, texts, returns = docstring.read(inspect.getdoc(documented) or "")
    fields = {
        f"p{index}": _field(name, target, parameter, texts.get(parameter.name))
        for index, parameter in enumerate(visible.values())
    }
    model, schema = _build_model(name, visible, fields)
    specification: dict[str, Any] = {"name": name, "description": description}
    if returns:
        specification["returns"] = returns
    specification["parameters"] = schema
    return Function(target, model, parameters, specification)


def _field(function: str, target: Callable[..., Any], parameter: inspect.Parameter, text: Optional[str]) -> Any:
    hint = _resolve_hint(function, target, parameter)
    default = parameter.default
    if default is None:
        # `note: str = None` is common; models send the null that the signature shows.
        hint = Optional[hint]
    described = {} if text is None else {"description": text}
    # The field name is ours: a parameter called `json` or `copy` would hide a method of the model.
    annotation = Annotated[hint, Field(alias=parameter.name, **described)]
    return (annotation, ... if default is inspect.Parameter.empty else default)


def _resolve_hint(function: str, target: Callable[..., Any], parameter: inspect.Parameter) -> Any:
    if parameter.annotation is inspect.Parameter.empty:
        return Any
    # A plain class is its own hint: most parameters have one.
    if type(parameter.annotation) is type:
        return parameter.annotation
    plain = inspect.unwrap(target)
    plain = getattr(plain, "__func__", plain)
    try:
        holder = types.SimpleNamespace(__annotations__={"hint": parameter.annotation})
        names = getattr(plain, "__globals__", {})
        hint = typing.get_type_hints(holder, globalns=names, include_extras=True)["hint"]
    except Exception as error:
        raise SpecificationError(
            f"The type of parameter {parameter.name} of function {function} cannot be resolved: {error}."
        ) from None
    try:
        return Annotated[hint, None]
    except Exception:
        kind = type(hint).__name__
        raise SpecificationError(f"The type of parameter {parameter.name} of function {function} is no type, but a value ({kind}).") from None


def _build_model(
    function: str, parameters: dict[str, inspect.Parameter], fields: dict[str, Any]
) -> tuple[type[BaseModel], dict[str, Any]]:
    config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)
    with warnings.catch_warnings():
        # A default without a JSON form is left out of the specification, as intended.
        warnings.simplefilter("ignore", PydanticJsonSchemaWarning)
        try:
            return _model_of(function, config, fields)
        except Exception as error:
            for name, field in zip(parameters, fields.values()):
                try:
                    _model_of(function, config, {"p0": field})
                except Exception as problem:
                    raise SpecificationError(
                        f"The type of parameter {name} of function {function} has no JSON form: {reason(problem)}"
                    ) from None
            raise SpecificationError(f"The function {function} cannot be described: {reason(error)}") from None


def _model_of(function: str, config: ConfigDict, fields: dict[str, Any]) -> tuple[type[BaseModel], dict[str, Any]]:
    model = create_model(function, __config__=config, **fields)
    schema = _clean_parameters(schema_of(model))
    # Pydantic makes no field of some annotations: `ClassVar`, `Final` with a value, `Self`.
    if len(schema["properties"]) != len(fields):
        raise TypeError("it is none that a parameter can have.")
    require_json(schema)
    return model, schema


def require_json(schema: dict[str, Any]) -> None:
    """Raises ValueError for numbers that JSON lacks, and for lone surrogates."""
    json.dumps(schema, allow_nan=False, ensure_ascii=False).encode()


def reason(error: Exception) -> str:
    """The most useful sentence, without advice that is not meant for authors of tools."""
    text = error.message if isinstance(error, PydanticUserError) else str(error)
    first, *rest = [line.strip() for line in text.splitlines() if line.strip()] or [type(error).__name__]
    return (rest[-1] if rest and first.endswith(":") else first).partition(" Set `arbitrary_types_allowed")[0]


def _clean_parameters(schema: dict[str, Any]) -> dict[str, Any]:
    definitions = schema.get("$defs", {})
    cleaned: dict[str, Any] = {
        "type": "object",
        "properties": {
            name: _clean(node, definitions, ()) for name, node in schema.get("properties", {}).items()
        },
    }
    if schema.get("required"):
        cleaned["required"] = schema["required"]
    return cleaned


def _clean(node: dict[str, Any], definitions: dict[str, Any], inside: tuple[str, ...]) -> dict[str, Any]:
    """Models read small schemas best: references inlined, no titles, no `null` alternatives. A type that
    contains itself is written out once; inside itself only its kind is named, because many models cannot
    follow references.
    """
    node = dict(node)
    reference = node.pop("$ref", None)
    if reference is not None:
        name = reference.rpartition("/")[2]
        if name in inside:
            return {**_kind(definitions[name]), **_without_title(node)}
        return _clean({**definitions[name], **node}, definitions, (*inside, name))
    node.pop("title", None)
    node.pop("discriminator", None)
    if node.get("default", ...) is None:
        del node["default"]
    if "enum" in node:
        node["enum"] = [value for value in node["enum"] if value is not None]
        kinds = {_KINDS.get(type(value)) for value in node["enum"]}
        if "type" not in node and len(kinds) == 1 and None not in kinds:
            node["type"] = kinds.pop()
    for keyword in ("anyOf", "oneOf", "allOf"):
        if keyword in node:
            others = [other for other in node.pop(keyword) if other.get("type") != "null"]
            if len(others) == 1:
                return _clean({**others[0], **node}, definitions, inside)
            node[keyword] = [_clean(other, definitions, inside) for other in others]
    if "properties" in node:
        node["properties"] = {k: _clean(v, definitions, inside) for k, v in node["properties"].items()}
    for keyword in ("items", "additionalProperties"):
        if isinstance(node.get(keyword), dict):
            node[keyword] = _clean(node[keyword], definitions, inside)
    if "prefixItems" in node:
        node["prefixItems"] = [_clean(item, definitions, inside) for item in node["prefixItems"]]
    if not node.keys() & {"type", "anyOf", "oneOf", "allOf", "enum", "const"}:
        node["type"] = "string"
    return node


def _kind(node: dict[str, Any]) -> dict[str, Any]:
    """The kind of values of a type, without their content."""
    alternatives = node.get("anyOf") or node.get("oneOf") or [node]
    kinds = list(dict.fromkeys(other.get("type", "object") for other in alternatives))
    types = [{"type": kind} for kind in kinds if kind != "null"]
    return types[0] if len(types) == 1 else {"anyOf": types}


def _without_title(node: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in node.items() if key != "title" and not (key == "default" and value is None)}
