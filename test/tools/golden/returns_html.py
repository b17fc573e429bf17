class Tools:
    def show_chart(self, values: list[float], title: str = "") -> tuple:
        """
        Show a chart.
        :param values: The heights of the bars
        :param title: Above it
        :return: The page, and what the model is told
        """
        return "<html></html>", "shown"
