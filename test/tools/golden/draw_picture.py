"""
title: Pictures
author: Parley
version: 0.1
"""

from typing import Any, Callable

from fastapi import Request
from open_webui.config import UPLOAD_DIR
from open_webui.models.users import Users
from open_webui.routers.images import GenerateImageForm, get_image_data, image_generations, upload_image


class Tools:
    async def draw(
        self, prompt: str, __request__: Request = None, __user__: dict = None, __event_emitter__: Callable[[dict], Any] = None
    ) -> str:
        """
        Draw a picture.
        :param prompt: What it shows
        """
        try:
            form = GenerateImageForm(prompt=prompt, model=None)
            images = await image_generations(__request__, form, Users.get_user_by_id(__user__["id"]))
            return images[0]["url"]
        except Exception as error:
            await __event_emitter__({"type": "status", "data": {"description": f"Failed: {error}", "done": True}})
            return f"Tell the user: {error}"

    def keep(self, picture: str, __request__: Request = None, __user__: dict = None) -> str:
        """
        Keep a picture.
        :param picture: A data URI
        """
        data, kind = get_image_data(picture)
        with open(f"{UPLOAD_DIR}/copy.bin", "wb") as file:
            file.write(data)
        stored, url = upload_image(__request__, data, kind, {"size": len(data)}, Users.get_user_by_id(__user__["id"]))
        return url
