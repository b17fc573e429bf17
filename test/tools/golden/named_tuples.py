from collections import deque
from typing import NamedTuple


class Pair(NamedTuple):
    left: int
    right: str = "r"


class Tools:
    def f(self, pair: Pair, recent: deque[int] = deque()):
        """Types of the standard library."""
