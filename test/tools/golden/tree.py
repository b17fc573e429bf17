from __future__ import annotations

from typing import List, Optional

from pydantic import BaseModel


class Node(BaseModel):
    name: str
    parent: Optional[Node] = None
    children: List[Node] = []


class Tools:
    def count(self, root: Node) -> int:
        """
        Count the nodes of a tree.
        :param root: Its root
        """
        return 1 + sum(self.count(child) for child in root.children)
