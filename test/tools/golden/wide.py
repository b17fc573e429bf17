class Tools:
    def create_ticket(
        self,
        title: str,
        description: str,
        priority: str = "normal",
        assignee: str = "",
        labels: list[str] = [],
        due_in_days: int = 7,
        estimate: float = 0.0,
        parent: str = None,
        watchers: list[str] = [],
        is_private: bool = False,
    ) -> dict:
        """
        Create a ticket.
        :param title: One line
        :param description: All that is known
        :param priority: low, normal or high
        """
        return {}
