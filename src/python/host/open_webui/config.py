"""Folders that tools write to. Each is the tool's own scratch: nothing in it outlives the process, and no one else reads it."""

import os
from pathlib import Path

CACHE_DIR = Path(os.environ["TMPDIR"], "cache")
UPLOAD_DIR = Path(os.environ["TMPDIR"], "uploads")
for _folder in (CACHE_DIR, UPLOAD_DIR):
    _folder.mkdir(exist_ok=True)
