class Tools:
    def __init__(self):
        self.citation = True
        self.limit = 3

    def visible(self, text: str) -> str:
        """The only one that can be called."""
        return self._helper(text)

    def _helper(self, text: str) -> str:
        """Not exported."""
        return text

    def __secret(self):
        return 1
