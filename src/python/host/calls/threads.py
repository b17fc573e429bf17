"""Threads that a function starts act for its caller, as the function does: their requests to the server are
made as that person, and their output returns with the call. Python itself (`contextvars`) passes the
context only to tasks and `asyncio.to_thread`.
"""

import contextvars
import functools
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Callable


def inherit() -> None:
    """From now on, for every thread of this process and all work of executors."""
    threading.Thread.start = _start  # type: ignore[method-assign]
    ThreadPoolExecutor.submit = _submit  # type: ignore[method-assign]


_start_alone, _submit_alone = threading.Thread.start, ThreadPoolExecutor.submit


@functools.wraps(_start_alone)
def _start(thread: threading.Thread) -> None:
    context, run = contextvars.copy_context(), thread.run

    def run_inheriting() -> None:
        # Left there, it would keep the thread and all values of the context alive.
        vars(thread).pop("run", None)
        context.run(run)

    thread.run = run_inheriting  # type: ignore[method-assign]
    try:
        _start_alone(thread)
    except BaseException:
        vars(thread).pop("run", None)
        raise


@functools.wraps(_submit_alone)
def _submit(executor: ThreadPoolExecutor, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
    work = functools.partial(contextvars.copy_context().run, function)
    # The threads of an executor later work for other callers, so they begin with an empty context.
    return contextvars.Context().run(_submit_alone, executor, work, *args, **kwargs)
