"""Where this lay once."""

from open_webui.models.files import *  # noqa: F403
