"""The former path of this module."""

from open_webui.models.users import *  # noqa: F403
