from typing import Literal, Optional


class Tools:
    def f(
        self,
        one: Literal["a"],
        some: Literal["a", "b"],
        numbers: Literal[1, 2, 3] = 1,
        mixed: Literal[1, "x", None] = None,
        perhaps: Optional[Literal["c", "f"]] = None,
        flag: Literal[True, False] = True,
    ):
        """All kinds of literals."""
