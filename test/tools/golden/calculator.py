"""
title: Calculator
"""


class Tools:
    def __init__(self):
        pass

    def calculator(self, equation: str) -> str:
        """
        Calculate the result of an equation.
        :param equation: The equation to calculate, such as 2 * (3 + 4).
        """
        return equation

    def add(self, a: float, b: float) -> float:
        """Add two numbers."""
        return a + b

    def divide(self, a: float, b: float = 1.0) -> float:
        """Divide one number by another.
        :param a: What is divided
        :param b: What it is divided by, not zero"""
        return a / b
