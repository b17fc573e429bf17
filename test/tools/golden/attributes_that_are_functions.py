class Tools:
    def __init__(self):
        self.shout = lambda text: text.upper()
        self.number = 3

    greet = lambda self, name="you": f"Hello {name}"
