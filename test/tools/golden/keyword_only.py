class Tools:
    def f(self, a: int, /, b: str, *, c: bool = True, d: float):
        """Every way to be given."""

    def g(self, first: str, *rest: int, flag: bool = False, **options):
        """
        Open ended.
        :param first: The one that counts
        """
