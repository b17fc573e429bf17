from typing import List, TypedDict


class Point(TypedDict):
    x: float
    y: float


class Labelled(TypedDict, total=False):
    label: str
    at: Point


class Tools:
    def draw(self, points: List[Point], note: Labelled = {}):
        """Draw points on a map."""
