"""What the functions of a tool send while they run: events, questions to the caller, requests to the server.
"""

import asyncio
import itertools
import os
import threading
from concurrent.futures import Future
from typing import Any, Callable

from pydantic_core import to_json

_EVENTS = 1_000
_EVENT_BYTES = 1024 * 1024
_REQUEST_BYTES = 8 * 1024 * 1024

_numbers = itertools.count(1)


class Questions:
    """The questions of all calls of a tool. `send` may be called from any thread. `wait` reads one message of
    the server, in the thread of the event loop, which made this object.
    """

    def __init__(self, send: Callable[[bytes], None], wait: Callable[[], None]) -> None:
        self._write = send
        self._wait = wait
        self._process = os.getpid()
        self._thread = threading.get_ident()
        # The calls that are not yet answered.
        self._calls: set[int] = set()
        # By call and number, until the answer arrives. The code that removes an entry also answers it.
        self._asked: dict[tuple[int, int], Future[Any]] = {}

    def begin(self, call: int) -> None:
        self._calls.add(call)

    def end(self, call: int) -> None:
        """Ends an answered call: the server gets no further questions of it, and threads that the call left
        must not wait for ever.
        """
        self._calls.discard(call)
        for key in [key for key in list(self._asked) if key[0] == call]:
            self._fail(key, "the function that asked has ended")

    def take(self, reply: dict[str, Any]) -> None:
        key = reply["call"], reply["ask"]
        if reply["error"] is not None:
            self._fail(key, reply["error"])
            return
        answer = self._asked.pop(key, None)
        if answer is not None and answer.set_running_or_notify_cancel():
            answer.set_result(reply["answer"])

    def emitter(self, call: int) -> Any:
        count = size = 0

        async def emit(event: Any) -> None:
            """Sends an event to the caller during the call. May be awaited on any event loop."""
            nonlocal count, size
            body = to_json(event, inf_nan_mode="null")
            count, size = count + 1, size + len(body)
            if count > _EVENTS or size > _EVENT_BYTES:
                limits = f"a call may emit {_EVENTS} events of {_EVENT_BYTES} bytes in all"
                raise RuntimeError(f"{limits}; store larger things with upload_file_handler and emit their address")
            self._send(b'{"kind":"event","call":%d}\n%b' % (call, body))

        return emit

    def asker(self, call: int) -> Any:
        async def ask(event: Any) -> Any:
            """Asks the caller and waits for the answer. May be awaited on any event loop."""
            return await asyncio.wrap_future(self._ask(call, b'"ask"', to_json(event, inf_nan_mode="null")))

        return ask

    def requester(self, call: int) -> Any:
        def request(operation: str, values: Any) -> Any:
            """Sends a request to the server on behalf of the caller, and waits for the answer. For any
            thread, the loop's own included.
            """
            body = to_json(values, inf_nan_mode="null")
            if len(body) > _REQUEST_BYTES:
                raise ValueError(f"a tool may hand the server {_REQUEST_BYTES} bytes at once")
            answer = self._ask(call, b'"request","operation":%b' % to_json(operation), body)
            # The function blocks the loop that would read the answer, so the answer is read here.
            while threading.get_ident() == self._thread and not answer.done():
                self._wait()
            return answer.result()

        return request

    def _ask(self, call: int, kind: bytes, body: bytes) -> "Future[Any]":
        """`kind`: as JSON, with the other members of the head."""
        key = call, next(_numbers)
        answer: Future[Any] = Future()
        self._asked[key] = answer
        # After the registration: a call that ends at this moment either finds the question or is found to
        # have ended.
        if call in self._calls:
            self._send(b'{"kind":%b,"call":%d,"ask":%d}\n%b' % (kind, *key, body))
        else:
            self._fail(key, "the function that asks has ended")
        return answer

    def _send(self, body: bytes) -> None:
        # A forked process shares the channel, and would read and write messages of its parent.
        if os.getpid() != self._process:
            raise RuntimeError("only the tool's own process speaks with the server, and none that it has started")
        self._write(body)

    def _fail(self, key: tuple[int, int], reason: str) -> None:
        answer = self._asked.pop(key, None)
        if answer is not None and answer.set_running_or_notify_cancel():
            answer.set_exception(RuntimeError(reason))
