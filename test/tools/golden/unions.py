from typing import Any, Optional, Union


class Tools:
    def f(
        self,
        a: Union[int, str],
        b: Optional[int],
        c: int | None = None,
        d: Union[int, str, None] = 3,
        e: Any = None,
        f: Optional[Union[list[int], dict[str, int]]] = None,
        g: "int | list[str]" = 1,
    ):
        """One of several."""
