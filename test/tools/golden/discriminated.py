from typing import Annotated, Literal, Union

from pydantic import BaseModel, Field


class Circle(BaseModel):
    kind: Literal["circle"]
    radius: float


class Square(BaseModel):
    kind: Literal["square"]
    side: float


Shape = Annotated[Union[Circle, Square], Field(discriminator="kind")]


class Tools:
    def area(self, shape: Shape, others: list[Shape] = []) -> float:
        """
        Area of a shape.
        :param shape: A circle or a square
        """
        return 0.0
