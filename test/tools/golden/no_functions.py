"""
title: Nothing to call
"""


class Tools:
    pass
