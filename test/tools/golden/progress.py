"""
title: Progress from a thread
author: Parley
version: 0.1
"""

import asyncio
import queue
import threading
from functools import partial
from typing import Callable


def run_async(coroutine):
    return asyncio.run(coroutine)


class Tools:
    def __init__(self):
        pass

    async def count(self, to: int = 3, __event_emitter__: Callable = None) -> int:
        """
        Count in a thread of its own and tell how far it is.
        :param to: How far
        """
        loop = asyncio.get_running_loop()
        total = 0

        def tell(text: str) -> None:
            event = {"type": "status", "data": {"description": text, "done": False}}
            asyncio.run_coroutine_threadsafe(__event_emitter__(event), loop).result(timeout=5)

        def work():
            nonlocal total
            for n in range(1, to + 1):
                total += n
                tell(f"{n} of {to}")

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        while thread.is_alive():
            await asyncio.sleep(0.01)
        return total

    def count_plainly(self, to: int = 3, __event_emitter__: Callable = None) -> list:
        """
        The same in a plain function.
        :param to: How far
        """
        results: "queue.Queue[int]" = queue.Queue()
        threads = [threading.Thread(target=partial(results.put, n * n)) for n in range(to)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        run_async(__event_emitter__({"type": "status", "data": {"description": "Done", "done": True}}))
        return sorted(results.queue)

    def schedule(self, __event_emitter__: Callable = None) -> str:
        """Emit from a plain function by the loop."""
        try:
            loop = asyncio.get_event_loop()
        except RuntimeError:
            loop = asyncio.new_event_loop()
            asyncio.set_event_loop(loop)
        if loop.is_running():
            asyncio.ensure_future(__event_emitter__({"type": "status", "data": {"description": "running"}}))
        else:
            loop.run_until_complete(__event_emitter__({"type": "status", "data": {"description": "own"}}))
        return "scheduled"
