from typing import Any, Awaitable, Callable, Optional


class Tools:
    async def report(
        self,
        topic: str,
        __event_emitter__: Optional[Callable[[dict], Awaitable[None]]] = None,
        __event_call__: Callable[[dict], Awaitable[Any]] = None,
        __user__: Optional[dict] = None,
    ) -> str:
        """
        Write a report.
        :param topic: What about
        """
        return topic
