from typing import Generic, NewType, TypeVar

from pydantic import BaseModel

T = TypeVar("T")
UserId = NewType("UserId", str)


class Page(BaseModel, Generic[T]):
    items: list[T]
    total: int = 0


class Tools:
    def show(self, page: Page[int], user: UserId, names: Page[str] = None):
        """Generic types."""
