"""
title: Ask first
author: Parley
version: 1.0
"""

from typing import Any, Awaitable, Callable

from pydantic import BaseModel, Field


class Tools:
    class UserValves(BaseModel):
        confirm: bool = Field(default=True, description="Whether to ask before anything is done")

    async def rename_project(
        self,
        project: str,
        __user__: dict,
        __event_call__: Callable[[dict], Awaitable[Any]],
        __event_emitter__: Callable[[dict], Awaitable[None]],
    ) -> str:
        """
        Rename a project.
        :param project: Its present name
        """
        name = await __event_call__(
            {
                "type": "input",
                "data": {"title": "New name", "message": f"How shall {project} be called?", "placeholder": project},
            }
        )
        if not name:
            return "No name was given."
        if __user__["valves"].confirm:
            sure = await __event_call__(
                {"type": "confirmation", "data": {"title": "Sure?", "message": f"{project} becomes {name}."}}
            )
            if not sure:
                return "Nothing was changed."
        await __event_emitter__({"type": "notification", "data": {"type": "success", "content": f"Renamed to {name}"}})
        await __event_emitter__({"type": "replace", "data": {"content": f"**{name}**"}})
        return f"{project} is {name} now."
