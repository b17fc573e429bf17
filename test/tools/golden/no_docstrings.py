class Tools:
    def first(self, a, b=1, c=None):
        return a

    def second(self):
        return 2
