"""One tool in a process of its own: loads its source, then answers calls until the server closes the channel."""

import asyncio
import contextvars
import io
import socket
import sys
import threading
import traceback
import types
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Optional

import channel
import confine
import source
import specification
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, to_json

_THREADS = 32
_TEXT_CHARACTERS = 2_000
_OUTPUT_CHARACTERS = 8_192
_RESULT_BYTES = 8 * 1024 * 1024
_EVENTS = 1_000
_EVENT_BYTES = 1024 * 1024


class LoadError(Exception):
    """The message is one sentence for the author of the tool."""


class CallError(Exception):
    def __init__(self, code: str, detail: str, issues: Optional[list[dict[str, str]]] = None) -> None:
        super().__init__(detail)
        self.code, self.detail, self.issues = code, detail, issues


_printed: contextvars.ContextVar[Optional[list[str]]] = contextvars.ContextVar("printed", default=None)


class _Output(io.TextIOWrapper):
    """What a call prints, the last of it; the file below is /dev/null."""

    def __init__(self) -> None:
        super().__init__(open("/dev/null", "wb"), encoding="utf-8", errors="replace")

    def write(self, text: str) -> int:
        printed = _printed.get()
        if printed is not None:
            printed[:] = ["".join((*printed, text[-_OUTPUT_CHARACTERS:]))[-_OUTPUT_CHARACTERS:]]
        return len(text)


class Tool:
    """The loaded source and its instance of class Tools."""

    def __init__(self, tool_id: str, content: str, tree: Any) -> None:
        self.id = tool_id
        module = types.ModuleType(f"tool_{tool_id}")
        # Pydantic and dataclasses look names up there.
        sys.modules[module.__name__] = module
        try:
            exec(compile(tree, "tool.py", "exec"), module.__dict__)
            factory = getattr(module, "Tools", None)
            if not isinstance(factory, type):
                raise LoadError("The source defines no class Tools.")
            self.instance = factory()
            self.functions = specification.describe(self.instance)
            self.valves = _find_valves(factory, "Valves")
            self.user_valves = _find_valves(factory, "UserValves")
            self.valve_schemas = {
                "valves": self.valves and self.valves.model_json_schema(),
                "user_valves": self.user_valves and self.user_valves.model_json_schema(),
            }
        except LoadError:
            raise
        except specification.SpecificationError as error:
            raise LoadError(str(error)) from None
        except BaseException as error:
            raise LoadError(f"The tool failed to load{_place(error)}: {_describe(error)}") from None
        self._valve_values: Optional[dict[str, Any]] = None

    def bind(self, request: dict[str, Any], emit: Any) -> Any:
        """The asked call, ready to run. Raises CallError."""
        function = self.functions.get(request["function"])
        if function is None:
            raise CallError("not_found", f"The tool has no function {request['function']}.")
        user = dict(request["user"])
        try:
            if self.valves and request["valves"] is not None and request["valves"] != self._valve_values:
                self.instance.valves = self.valves.model_validate(request["valves"])
                self._valve_values = request["valves"]
            if self.user_valves:
                user["valves"] = self.user_valves.model_validate(request["user_valves"] or {})
        except ValidationError as error:
            first = specification.issues(error)[0]
            raise CallError(
                "tool_raised", f"The valves of the tool are not valid: {first['path']}: {first['message']}"
            ) from None
        injected = {"__user__": user, "__id__": self.id, "__event_emitter__": emit}
        try:
            return function.bind(request["arguments"], injected)
        except ValidationError as error:
            found = specification.issues(error)
            detail = f"The arguments do not fit: {found[0]['path']}: {found[0]['message']}"
            raise CallError("arguments_invalid", detail, found) from None


class Session:
    """The conversation with the server about one tool."""

    def __init__(self, connection: socket.socket, limits: confine.Limits) -> None:
        self.connection = connection
        self.limits = limits
        self.running: set[asyncio.Task[None]] = set()

    async def serve(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.thread = threading.get_ident()
        self.loop.set_default_executor(ThreadPoolExecutor(_THREADS))
        reader, self.writer = await asyncio.open_connection(sock=self.connection)
        try:
            load = await channel.read(reader)
            tool = await self._load(load)
            if tool is None:
                await self.writer.drain()
                return
            while True:
                request = await channel.read(reader)
                confine.allow_cpu(self.limits.cpu_seconds)
                task = self.loop.create_task(self._answer(tool, request))
                self.running.add(task)
                task.add_done_callback(self.running.discard)
        except (asyncio.IncompleteReadError, ConnectionError):
            return

    async def _load(self, load: dict[str, Any]) -> Optional[Tool]:
        try:
            content, tree = source.parse(load["content"])
            replaced = source.replace_imports(content, tree)
            if replaced is not content:
                content, tree = source.parse(replaced)
            # Before the tool can run a statement, so that it cannot speak for its own source.
            manifest = source.read_manifest(content, tree)
            self.writer.transport.set_write_buffer_limits(0)
            self._send({"kind": "prepared", "content": content, "manifest": manifest})
            # What still waited in this process would be the tool's to change.
            await self.writer.drain()
            tool = Tool(load["id"], content, tree)
        except (source.SourceError, LoadError) as error:
            self._send({"kind": "refused", "detail": str(error)})
            return None
        specs = [function.specification for function in tool.functions.values()]
        try:
            self._send({"kind": "loaded", "specs": specs, **tool.valve_schemas})
        except (TypeError, ValueError) as error:
            self._send({"kind": "refused", "detail": f"The specification has no JSON form: {error}."})
            return None
        return tool

    async def _answer(self, tool: Tool, request: dict[str, Any]) -> None:
        number = request["call"]
        printed: list[str] = []
        _printed.set(printed)
        try:
            call = tool.bind(request, self._emitter(number))
            result = await _run(call)
            output = to_json("".join(printed))
            body = b'{"kind":"result","call":%d,"output":%b,"result":%b}' % (number, output, _encode_result(result))
            self._write(channel.encode(body))
        except CallError as error:
            answer = {"kind": "error", "call": number, "code": error.code, "detail": error.detail}
            self._send({**answer, "issues": error.issues or [], "output": "".join(printed)})

    def _emitter(self, number: int) -> Any:
        count = size = 0

        async def emit(event: Any) -> None:
            """Sends an event to the caller while the function runs. May be awaited on any event loop."""
            nonlocal count, size
            body = to_json(event, inf_nan_mode="null")
            count, size = count + 1, size + len(body)
            if count > _EVENTS or size > _EVENT_BYTES:
                raise RuntimeError(f"a call may emit {_EVENTS} events of {_EVENT_BYTES} bytes in all")
            self._write(channel.encode(b'{"kind":"event","call":%d,"event":%b}' % (number, body)))

        return emit

    def _send(self, message: dict[str, Any]) -> None:
        self._write(channel.encode_json(message))

    def _write(self, frame: bytes) -> None:
        if threading.get_ident() == self.thread:
            # At once: the function may be about to block the loop.
            self.writer.write(frame)
        else:
            self.loop.call_soon_threadsafe(self.writer.write, frame)


async def _run(call: Any) -> Any:
    target = call.func
    try:
        if asyncio.iscoroutinefunction(target):
            return await call()
        outcome, error = await asyncio.to_thread(_outcome, call)
        if error is not None:
            raise error
        # A plain function may return a coroutine: a decorated one does.
        return await outcome if asyncio.iscoroutine(outcome) else outcome
    except SystemExit as error:
        raise CallError("tool_raised", f"The tool tried to end its process: SystemExit: {error.code}") from None
    except BaseException as error:
        raise CallError("tool_raised", _describe(error)) from None


def _outcome(call: Any) -> tuple[Any, Optional[BaseException]]:
    """A future cannot carry every exception (StopIteration), so it travels as a value."""
    try:
        return call(), None
    except BaseException as error:
        return None, error


def _encode_result(result: Any) -> bytes:
    try:
        body = to_json(result, inf_nan_mode="null")
    except (PydanticSerializationError, ValueError, TypeError, RecursionError, MemoryError) as error:
        kind = type(result).__name__
        raise CallError("tool_raised", f"The result ({kind}) has no JSON form: {_cut(str(error))}") from None
    except BaseException as error:
        raise CallError("tool_raised", _describe(error)) from None
    if len(body) > _RESULT_BYTES:
        raise CallError("tool_raised", f"The result has {len(body)} bytes; at most {_RESULT_BYTES} are allowed.")
    return body


def _find_valves(factory: type, name: str) -> Optional[type[BaseModel]]:
    valves = getattr(factory, name, None)
    if valves is None:
        return None
    if not (isinstance(valves, type) and issubclass(valves, BaseModel)):
        raise LoadError(f"The class {name} must be a Pydantic model.")
    return valves


def _describe(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:
        text = ""
    name = type(error).__name__
    return _cut(f"{name}: {text}" if text else name)


def _place(error: BaseException) -> str:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "tool.py"]
    return f" in line {lines[-1]}" if lines else ""


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT_CHARACTERS else text[:_TEXT_CHARACTERS] + "…"


def main(connection: socket.socket, limits: confine.Limits) -> None:
    """Does not return before the server closes the channel."""
    sys.stdout, sys.stderr = _Output(), _Output()
    asyncio.run(Session(connection, limits).serve())
