"""Where this lay once."""

from open_webui.models.users import *  # noqa: F403
