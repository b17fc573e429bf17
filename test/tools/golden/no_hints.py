class Tools:
    def search(self, query, limit=10, exact=False, ratio=0.5, tags=[], options={}):
        """Search for something.

        :param query: What to look for
        :param limit: How many at most
        """
        return []
