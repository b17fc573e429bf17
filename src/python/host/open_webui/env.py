"""The tool's own folder, and log levels by component."""

import logging
import os
from collections import defaultdict
from pathlib import Path

DATA_DIR = Path(os.environ["TMPDIR"])
GLOBAL_LOG_LEVEL = logging.getLevelName(logging.INFO)
SRC_LOG_LEVELS: "defaultdict[str, int]" = defaultdict(lambda: logging.INFO)
