from dataclasses import dataclass, field


@dataclass
class Item:
    name: str
    count: int = 1
    tags: list[str] = field(default_factory=list)


class Tools:
    def order(self, items: list[Item], express: bool = False):
        """
        Order items.
        :param items: What to order
        """
