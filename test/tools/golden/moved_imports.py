"""
title: Moved imports
"""
try:
    from utils.misc import get_last_user_message
    from apps.webui.models.users import Users
    from config import UPLOAD_DIR
    from main import app
except ImportError:
    pass


class Tools:
    def f(self):
        """The words `from utils` in a text stay."""
        return "from utils import x"
