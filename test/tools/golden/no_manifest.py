import json

"""
title: Not a docstring of the module
"""


class Tools:
    def f(self):
        return json.dumps(1)
