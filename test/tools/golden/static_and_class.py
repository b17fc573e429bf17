class Tools:
    base = 10

    @staticmethod
    def twice(x: int) -> int:
        """Twice as much."""
        return 2 * x

    @classmethod
    def above(cls, x: int) -> int:
        """Ten more."""
        return cls.base + x

    @property
    def name(self) -> str:
        return "not a function"
