import math


class Tools:
    def f(
        self,
        text: str = "a\nb",
        empty: str = "",
        none: str = None,
        flag: bool = False,
        big: int = 10**15,
        ratio: float = 1e-3,
        pair: tuple = (1, 2),
        table: dict = {"a": [1, {"b": None}]},
    ):
        """Defaults of all kinds."""
