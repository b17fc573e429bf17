from functools import lru_cache


class Tools:
    @lru_cache(maxsize=8)
    def square(self, x: int) -> int:
        """
        Square a number.
        :param x: The number
        """
        return x * x
