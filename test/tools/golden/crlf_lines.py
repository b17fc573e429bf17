"""
title: Lines of Windows
version: 1
"""


class Tools:
    def f(self, a: str):
        """
        Two lines
        of text.

        :param a: First line
            second line
        """
