"""title: First line
author: Ann
requirements:
funding_url: https://example.com/fund
icon_url: data:image/png;base64,AAAA
"""


class Tools:
    def f(self): ...
