# Written on a train.
"""
title: Comment first
author: Somebody
"""


class Tools:
    def f(self) -> str:
        """Do it."""
        return "done"
