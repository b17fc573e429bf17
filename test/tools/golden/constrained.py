from typing import Annotated

from pydantic import BaseModel, Field, NonNegativeInt, PositiveFloat, StringConstraints, confloat, conint, constr


class Tools:
    def f(
        self,
        a: conint(ge=1, le=10),
        b: constr(min_length=2, max_length=5),
        c: PositiveFloat = 1.0,
        d: NonNegativeInt = 0,
        e: confloat(gt=0, lt=1) = 0.5,
        f: Annotated[str, StringConstraints(pattern=r"^\d{4}$")] = "8000",
        g: Annotated[list[int], Field(min_length=1, max_length=3)] = [1],
    ):
        """Bounds."""
