from typing import Dict, FrozenSet, List, Sequence, Set, Tuple


class Tools:
    def f(
        self,
        a: List[str],
        b: Set[int],
        c: Tuple[int, str],
        d: Tuple[int, ...],
        e: Sequence[float],
        f: FrozenSet[str] = frozenset(),
        g: Dict[str, List[int]] = {},
        h: list = [],
        i: list[list[int]] = [[1], [2]],
    ):
        """Many in one."""
