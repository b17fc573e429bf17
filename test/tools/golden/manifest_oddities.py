"""
title: Odd
Title: Other case
two words: not a key
with-dash: not a key
digits2: not a key
empty:
url: https://example.com/a:b
    indented: yes
title: The last one counts
"""


class Tools:
    def f(self): ...
