"""Where this lay once."""

from open_webui.models.chats import *  # noqa: F403
