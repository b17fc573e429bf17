class Tools:
    def f(self, json: str, copy: int = 1, schema: dict = {}, model_config: str = "", class_: str = "", type: str = "a"):
        """
        Names that mean something elsewhere.
        :param json: A document
        """
