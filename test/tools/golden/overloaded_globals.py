"""
title: Module state
"""
import logging
import os
from functools import partial

log = logging.getLogger(__name__)
HOME = os.environ.get("HOME", "")


def _describe(name: str, times: int = 1) -> str:
    """Say it."""
    return name * times


class Helper:
    def run(self): ...


class Tools:
    helper = Helper()
    say = staticmethod(_describe)
    once = partial(_describe, times=1)
