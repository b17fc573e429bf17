"""The former path of this module."""

from open_webui.models.chats import *  # noqa: F403
