import random
import secrets


class Tools:
    def roll(self, sides: int = 6, count: int = 1) -> list[int]:
        """
        Roll dice.
        :param sides: Of each die
        :param count: How many dice
        """
        return [random.randint(1, sides) for _ in range(count)]

    def password(self, length: int = 16) -> str:
        """Make a password."""
        return secrets.token_urlsafe(length)[:length]
