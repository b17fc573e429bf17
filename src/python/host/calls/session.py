"""One tool in a process of its own: loads its source, then answers calls until the server closes the channel.
"""

import asyncio
import gc
import inspect
import json
import os
import resource
import select
import shutil
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Optional

import bridge
from calls import channel, output, presentation, threads
from calls.questions import Questions
from loading import imports, packages, source
from loading.tool import CallError, LoadError, Tool
from loading.wording import describe
from pydantic_core import to_json
from walls import confine

_THREADS = 32
_CHUNK_BYTES = 256 * 1024


class _TooLate(BaseException):
    """The server may have sent the call to another process by now."""


# Done once, in the process from which tools are forked.
threads.inherit()


class Session:
    """The connection with the server for one tool."""

    def __init__(self, connection: socket.socket, limits: confine.Limits) -> None:
        self.connection = connection
        self.limits = limits
        self.frames = channel.Frames()
        self.writing = threading.Lock()
        self.tool: Optional[Tool] = None
        self.scratch = os.getcwd()
        self.running: set[asyncio.Task[None]] = set()
        self.questions = Questions(lambda body: self._write(channel.encode(body)), self._wait)

    async def serve(self) -> None:
        """Returns when the server has closed the channel, or when the tool cannot be loaded."""
        self.loop = asyncio.get_running_loop()
        self.loop.set_default_executor(ThreadPoolExecutor(_THREADS))
        self.over = self.loop.create_future()
        self.connection.setblocking(False)
        self.loop.add_reader(self.connection, self._receive)
        await self.over

    def _receive(self) -> None:
        try:
            received = self.connection.recv(_CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            received = b""
        if not received:
            self._end()
        for message in self.frames.add(received):
            self._take(message)

    def _end(self) -> None:
        if not self.over.done():
            self.over.set_result(None)

    def _take(self, message: dict[str, Any]) -> None:
        kind = message["kind"]
        if kind == "reply":
            self.questions.take(message)
        elif kind == "load":
            self.tool = self._load(message)
            # Off until now: loading makes many objects, and little garbage.
            gc.enable()
            if self.tool is None:
                self._end()
        elif self.tool is not None:
            confine.allow_cpu(self.limits.cpu_seconds)
            task = self.loop.create_task(self._answer(self.tool, message))
            self.running.add(task)
            task.add_done_callback(self.running.discard)

    def _load(self, load: dict[str, Any]) -> Optional[Tool]:
        try:
            content, tree = source.parse(load["content"])
            replaced = source.replace_imports(content, tree)
            if replaced is not content:
                content, tree = source.parse(replaced)
            # Read before the tool runs a statement, so that the tool cannot falsify its own source.
            manifest = source.read_manifest(content, tree)
            missing, warnings = packages.needed(tree, manifest.get("requirements", ""), load)
            said = {"content": content, "manifest": manifest, "missing": missing, "warnings": warnings}
            self._send({"kind": "prepared"}, said)
            if missing and not load["is_lenient"]:
                return None
            warnings = imports.provide(content, tree)
            tool = Tool(load["id"], content, tree, is_written=True)
            if load["is_new"]:
                warnings += imports.unresolved(content, tree, is_complete=not missing)
        except (source.SourceError, packages.RequirementError, LoadError) as error:
            self._send({"kind": "refused"}, {"detail": str(error)})
            return None
        specs = [function.specification for function in tool.functions.values()]
        try:
            self._send({"kind": "loaded"}, {"specs": specs, "warnings": warnings, **tool.valve_schemas})
        except (TypeError, ValueError) as error:
            self._send({"kind": "refused"}, {"detail": f"The specification has no JSON form: {error}."})
            return None
        return tool

    async def _answer(self, tool: Tool, request: dict[str, Any]) -> None:
        number = request["call"]
        if time.monotonic() > request["begin_before"]:
            return  # The server may have sent the call to another process.
        self.questions.begin(number)
        printed: list[str] = []
        output.printed.set(printed)
        folder = os.path.join(self.scratch, "uploads", f"call-{number}")
        bridge.caller.set(bridge.Caller(self.questions.requester(number), request.get("user") or {}, folder))
        cpu = _cpu_seconds()
        try:
            body = output.encode(await self._carry_out(tool, request))
            parts = (number, _usage(cpu), to_json(output.text_of(printed)), body)
            self._write(channel.encode(b'{"kind":"result","call":%d,"usage":%b,"output":%b}\n%b' % parts))
        except _TooLate:
            pass
        except BaseException as problem:
            # Code of the tool may fail even when its type is asked for its name. That error also goes to the
            # caller, and the loop continues.
            error = problem if type(problem) is CallError else CallError("tool_raised", "The tool failed, and cannot say how.")
            head = {"kind": "error", "call": number, "usage": json.loads(_usage(cpu))}
            self._send(head, {"code": error.code, "detail": error.detail, "issues": error.issues or []})
        finally:
            self.questions.end(number)
            # The files of many calls together would exceed the bound of a tool.
            if os.path.exists(folder):
                shutil.rmtree(folder, ignore_errors=True)

    async def _carry_out(self, tool: Tool, request: dict[str, Any]) -> Any:
        number = request["call"]
        if request["kind"] == "call":
            emit, ask = self.questions.emitter(number), self.questions.asker(number)
            function = tool.find(request["function"])
            result = await _run(function.target, lambda: tool.bind(function, request, emit, ask), lambda: self._begin(request))
            try:
                return await presentation.present(result, emit)
            except BaseException as error:
                raise CallError("tool_raised", describe(error)) from None
        try:
            if request["kind"] == "check":
                # In a thread: validators are the tool's code and may be slow.
                outcome, error = await asyncio.to_thread(_outcome, lambda: tool.check_valves(request), lambda: self._begin(request))
                if error is not None:
                    raise error
                return outcome
            self._begin(request)
            return await tool.describe_valves(request)
        except (CallError, _TooLate):
            raise
        except BaseException:
            # Its text may quote a value.
            raise CallError("tool_raised", "The tool failed when it was asked about its valves.") from None

    def _begin(self, request: dict[str, Any]) -> None:
        """Reports that the tool's own code runs from now on, so the server no longer sends this call to
        another process. Raises _TooLate when the deadline has passed. For any thread.
        """
        self._write(channel.encode(b'{"kind":"begun","call":%d,"cpu_ms":%.3f}' % (request["call"], _cpu_seconds() * 1000)))
        if time.monotonic() > request["begin_before"]:
            raise _TooLate

    def _wait(self) -> None:
        """Handles the next message of the server, for a function that blocks the loop."""
        select.select([self.connection], [], [])
        self._receive()
        if self.over.done():
            raise RuntimeError("the server has gone away")

    def _send(self, head: dict[str, Any], payload: dict[str, Any]) -> None:
        self._write(channel.encode_json(head, payload))

    def _write(self, frame: bytes) -> None:
        """Writes the whole frame, from any thread: the function may be about to block the loop."""
        with self.writing:
            left = memoryview(frame)
            while left:
                try:
                    left = left[self.connection.send(left) :]
                except BlockingIOError:
                    select.select([], [self.connection], [])
                except OSError:
                    return  # The server has ended, and this process is about to.


async def _run(target: Callable[..., Any], bind: Callable[[], Callable[[], Any]], begin: Callable[[], None]) -> Any:
    """Binding runs code of the tool as well: it is part of the work in the thread, and does not block other
    calls unless the function itself does.
    """
    try:
        if asyncio.iscoroutinefunction(target):
            begin()
            outcome = await bind()()
        else:
            outcome, error = await asyncio.to_thread(_outcome, lambda: bind()(), begin)
            if error is not None:
                raise error
            # A plain function may return a coroutine: decorated functions do.
            outcome = await outcome if inspect.isawaitable(outcome) else outcome
        return [part async for part in outcome] if inspect.isasyncgen(outcome) else outcome
    except (CallError, _TooLate):
        raise
    except SystemExit as error:
        raise CallError("tool_raised", f"The tool tried to end its process: SystemExit: {error.code}") from None
    except BaseException as error:
        raise CallError("tool_raised", describe(error)) from None
    finally:
        # An event that the function sent in a task, without waiting for it, still comes before the result.
        await asyncio.sleep(0)


def _outcome(call: Any, begin: Callable[[], None]) -> tuple[Any, Optional[BaseException]]:
    """A future cannot carry every exception (StopIteration), so the exception is returned as a value. A
    generator runs here, as part of its function.
    """
    try:
        begin()
        result = call()
        is_generator = inspect.isgenerator(result) and not inspect.isawaitable(result)
        return list(result) if is_generator else result, None
    except BaseException as error:
        return None, error


def _cpu_seconds() -> float:
    """CPU time of this process and of the children that it waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _usage(cpu_before: float) -> bytes:
    """Usage as JSON. Calls that run at the same time count each other's CPU time: threads and tasks cannot be
    told apart.
    """
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return b'{"cpu_ms":%.3f,"peak_memory_bytes":%d}' % ((_cpu_seconds() - cpu_before) * 1000, peak)


def main(connection: socket.socket, limits: confine.Limits) -> None:
    """Returns when the server closes the channel."""
    sys.stdout, sys.stderr = output.OUTPUTS
    # asyncio.run() does more, which only helps programs that go on afterwards, and takes time.
    asyncio.new_event_loop().run_until_complete(Session(connection, limits).serve())
