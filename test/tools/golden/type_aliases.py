from typing import Annotated, Optional, Union

from typing_extensions import Doc, NotRequired, Required, TypedDict

Json = Union[str, int, float, bool, None, list, dict]
City = Annotated[str, "a name"]


class Filter(TypedDict, total=False):
    field: Required[str]
    value: NotRequired[Json]


class Tools:
    def f(self, city: City, filters: list[Filter] = [], extra: Optional[Json] = None, note: Annotated[str, Doc("x")] = ""):
        """Names for types."""
