"""
title: Images
description: Makes an image of a text
"""
from typing import Literal

from pydantic import BaseModel, Field


class Tools:
    class UserValves(BaseModel):
        style: Literal["photo", "drawing", "oil"] = Field(default="photo", description="How it should look")
        seed: int = Field(default=-1, ge=-1)

    async def generate_image(
        self,
        prompt: str,
        size: Literal["512x512", "1024x1024"] = "1024x1024",
        count: int = 1,
        __request__=None,
        __user__: dict = {},
        __event_emitter__=None,
    ) -> str:
        """
        Generate an image.

        :param prompt: What it shows
        :param size: Width and height
        :param count: How many
        """
        return "done"
