"""One tool: its loaded source, with the instance that answers calls."""

import copy
import inspect
import linecache
import os
import re
import sys
import traceback
import types
from typing import Any, Callable, Optional

from loading import imports
from loading.wording import describe
from pydantic import BaseModel, ValidationError
from specs import hidden, specification, valves
from specs.plain import PlainValves

_FILE = "tool.py"
_UNOFFERED = re.compile(r"cannot import name '(\w+)' from '(open_webui[\w.]*)'")


class LoadError(Exception):
    """The message is one sentence for the author of the tool."""


class CallError(Exception):
    def __init__(self, code: str, detail: str, issues: Optional[list[dict[str, str]]] = None) -> None:
        super().__init__(detail)
        self.code, self.detail, self.issues = code, detail, issues


class Tool:
    """The loaded source and its instance of class Tools."""

    def __init__(self, tool_id: str, content: str, tree: Any, is_written: bool = False) -> None:
        self.id = tool_id
        module = types.ModuleType(f"tool_{tool_id}")
        # Pydantic and dataclasses look up names there.
        sys.modules[module.__name__] = module
        # Some sources read their own file, or look for files in its folder: the scratch folder.
        module.__file__ = os.path.abspath(_FILE)
        if is_written:
            _write(module.__file__, content)
        for name in (_FILE, module.__file__):
            # Tracebacks and `inspect` quote these lines; otherwise they would find our own file of this name.
            linecache.cache[name] = (lambda: content,)
        try:
            exec(compile(tree, _FILE, "exec"), module.__dict__)
            factory = getattr(module, "Tools", None)
            if not isinstance(factory, type):
                raise LoadError("The source defines no class Tools.")
            self.instance = factory()
            self.functions = specification.describe(self.instance)
            self._plain: dict[type[BaseModel], PlainValves] = {}
            self.valves = {
                "valves": self._find_valves(factory, "Valves"),
                "user_valves": self._find_valves(factory, "UserValves"),
            }
            self.valve_schemas = {kind: model and valves.describe(model.__name__, model) for kind, model in self.valves.items()}
            # As the constructor left them.
            self._own_valves = getattr(self.instance, "valves", None) if self.valves["valves"] else None
        except LoadError:
            raise
        except specification.SpecificationError as error:
            raise LoadError(str(error)) from None
        except BaseException as error:
            raise LoadError(_problem(error)) from None

    def _find_valves(self, factory: type, name: str) -> Optional[type[BaseModel]]:
        """A class within `Tools`, even when the constructor rebinds the name, or a class that only the
        constructor names so.
        """
        found = getattr(factory, name, None)
        if found is None:
            found = inspect.getattr_static(self.instance, name, None)
        if not isinstance(found, type):
            return None
        if issubclass(found, BaseModel):
            return found
        plain = PlainValves(name, found)
        if plain.model is not None:
            self._plain[plain.model] = plain
        return plain.model

    def find(self, name: str) -> specification.Function:
        """A function by its name. Raises CallError."""
        function = self.functions.get(name)
        if function is None:
            raise CallError("not_found", f"The tool has no function {name}.")
        return function

    def bind(self, function: specification.Function, request: dict[str, Any], emit: Any, ask: Any) -> Callable[[], Any]:
        """The requested call, ready to run. Types and valves may check values with code of the tool: raises
        CallError, and any error of that code.
        """
        user = dict(request["user"])
        self._set_valves(request["valves"])
        if self.valves["user_valves"]:
            user["valves"] = self._accept(self.valves["user_valves"], request["user_valves"] or {}, "Your settings of this tool")
        try:
            return function.bind(request["arguments"], hidden.parameters({**request, "tool": self.id}, user, emit, ask))
        except ValidationError as error:
            found = specification.issues(error)
            detail = f"The arguments do not fit: {found[0]['path']}: {found[0]['message']}"
            raise CallError("arguments_invalid", detail, found) from None

    def _set_valves(self, values: Optional[dict[str, Any]]) -> None:
        """Set anew for each call: a change that a function makes to its valves must not reach the next
        caller.
        """
        model = self.valves["valves"]
        if model is None:
            return
        if values or self._own_valves is None:
            self.instance.valves = self._made_of(model, values or {})
        else:
            self.instance.valves = _copy(self._own_valves)

    def _made_of(self, model: type[BaseModel], values: dict[str, Any]) -> Any:
        try:
            return self._accept(model, values, "The valves of the tool")
        except CallError as error:
            if values:
                raise
            # Functions that use no valves work before the valves are set.
            return _Unset(error.detail)

    def _accept(self, model: type[BaseModel], values: dict[str, Any], name: str) -> Any:
        accepted = _accept(model, values, name)
        return self._plain[model].fill(accepted) if model in self._plain else accepted

    def check_valves(self, request: dict[str, Any]) -> Any:
        """The valves in the form to store. Raises CallError."""
        model = self._valves_of(request)
        try:
            return valves.check(model, request["values"])
        except ValidationError as error:
            found = valves.issues(error, request["values"])
            where = f"{found[0]['path']}: " if found[0]["path"] else ""
            raise CallError("valves_invalid", f"The valves do not fit: {where}{found[0]['message']}", found) from None

    async def describe_valves(self, request: dict[str, Any]) -> Any:
        """The schema of the valves with the choices that the class offers to this user. Raises CallError."""
        schema = self.valve_schemas[request["which"]]
        return await valves.resolve_options(self._valves_of(request), schema, request["user"])

    def _valves_of(self, request: dict[str, Any]) -> Any:
        model = self.valves[request["which"]]
        if model is None:
            raise CallError("not_found", "The tool has no such valves.")
        return model


def _write(path: str, content: str) -> None:
    """Writes the source unchanged, line ends included. Without disk space the tool still runs."""
    try:
        with open(path, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
            file.write(content)
    except OSError:
        pass


class _Unset:
    """Valves that are not set and have no defaults."""

    _reason = ""  # Used while a copy is being made.

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(self._reason)


def _accept(model: type[BaseModel], values: dict[str, Any], name: str) -> BaseModel:
    """Stored values, checked by the current class. Raises CallError that quotes no value: the values may be
    secrets of another person.
    """
    try:
        return model.model_validate(values)
    except ValidationError as error:
        is_missing = error.errors(include_url=False)[0]["type"] == "missing"
        raise CallError("tool_raised", f"{name} {'lack' if is_missing else 'are not valid:'} {valves.first_path(error)}.") from None
    except Exception as error:
        raise CallError("tool_raised", f"{name} are not valid: their class failed with {type(error).__name__}.") from None


def _copy(made: Any) -> Any:
    try:
        return copy.deepcopy(made)
    except Exception:
        return made  # The value contains itself.


def _problem(error: BaseException) -> str:
    place = _place(error)
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    unoffered = _UNOFFERED.match(str(error)) if isinstance(error, ImportError) else None
    if unoffered is not None:
        return imports.problem(place, unoffered[2], unoffered[1])
    if missing is None:
        return f"The tool failed to load{place}: {describe(error)}"
    return imports.problem(place, missing)


def _place(error: BaseException) -> str:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == _FILE]
    return f" in line {lines[-1]}" if lines else ""
