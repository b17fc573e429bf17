class Base:
    def ping(self) -> str:
        """Answer."""
        return "pong"

    def shared(self, a: int):
        """Of the base."""


class Tools(Base):
    def shared(self, a: int, b: int = 2):
        """Of the tool."""
