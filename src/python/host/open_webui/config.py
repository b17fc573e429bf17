"""Folders that tools write to. Each is the tool's own scratch folder: its content ends with the process, and
other tools cannot read it.
"""

from open_webui.env import DATA_DIR

CACHE_DIR = DATA_DIR / "cache"
UPLOAD_DIR = DATA_DIR / "uploads"
for _folder in (CACHE_DIR, UPLOAD_DIR):
    _folder.mkdir(exist_ok=True)
