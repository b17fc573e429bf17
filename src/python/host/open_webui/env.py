"""Levels of logging, by the part that logs."""

import logging
from collections import defaultdict

GLOBAL_LOG_LEVEL = logging.getLevelName(logging.INFO)
SRC_LOG_LEVELS: "defaultdict[str, int]" = defaultdict(lambda: logging.INFO)
