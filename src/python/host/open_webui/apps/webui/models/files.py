"""The former path of this module."""

from open_webui.models.files import *  # noqa: F403
