from typing import Literal

Unit = Literal["m", "km", "mi", "ft"]


class Tools:
    FACTORS = {"m": 1, "km": 1000, "mi": 1609.344, "ft": 0.3048}

    def convert(self, value: float, source: Unit, target: Unit = "m") -> float:
        """
        Convert a length.
        :param value: How much
        :param source: Its unit
        :param target: The unit wanted
        """
        return value * self.FACTORS[source] / self.FACTORS[target]
