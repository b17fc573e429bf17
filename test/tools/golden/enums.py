from enum import Enum, IntEnum


class Color(str, Enum):
    red = "red"
    green = "green"


class Level(IntEnum):
    low = 1
    high = 2


class Plain(Enum):
    a = "A"
    b = 2


class Tools:
    def paint(self, color: Color, level: Level = Level.low, plain: Plain = Plain.a):
        """
        Paint it.
        :param color: Which one
        """
