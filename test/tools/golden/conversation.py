"""
title: Conversation
author: Parley
version: 0.1
"""

from typing import Optional

from open_webui.models.chats import Chats
from open_webui.utils.chat import generate_chat_completion
from open_webui.utils.misc import get_last_user_message_item


class Tools:
    async def last_question(self, __messages__: Optional[list] = None) -> str:
        """Repeat the last question of the user."""
        item = get_last_user_message_item(__messages__ or [])
        return item["content"] if item else "Nobody has asked anything."

    def title(self, __chat_id__: Optional[str] = None) -> str:
        """Tell the title of this conversation."""
        return Chats.get_chat_by_id(__chat_id__).title

    async def summary(self, __user__: dict = {}, __request__=None, __model__: Optional[dict] = None) -> str:
        """Sum this conversation up."""
        try:
            form = {"model": (__model__ or {}).get("id"), "messages": [], "stream": False}
            answer = await generate_chat_completion(__request__, form, user=__user__)
            return answer["choices"][0]["message"]["content"]
        except Exception as error:
            return f"There is no summary: {error}"
