class Tools:
    def sphinx(self, a: int, b: str):
        """
        Typed fields.

        :param int a: The first
        :type a: int
        :param b: The second
        :type b: str
        :raises ValueError: when it is wrong
        :returns: Something
        :rtype: str
        """

    def google(self, a: int):
        """Sections are part of the description.

        Args:
            a: The first
        """
