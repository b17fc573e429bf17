"""Missing parts of the package `open_webui`. Published tools import them at the top whether or not a call
needs them. So they can be imported, subclassed and named in annotations, and raise NotOffered, with their
full name, when used.
"""

import importlib.machinery
import sys
import types
import typing
from typing import Any, NoReturn

from bridge import NotOffered
from pydantic_core import core_schema

# The special methods that an operator, a built-in function or a statement calls.
_USES = (
    "abs add aenter aexit aiter and await bool bytes call contains delitem divmod enter exit float floordiv format fspath ge gt iadd "
    "index int invert iter le len lt mod mul neg pos pow radd reversed rfloordiv rmul rsub rtruediv setitem str sub truediv"
).split()


class Unoffered:
    """A member of a module, or a member of such a member."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __repr__(self) -> str:
        return f"<{self._path}: not offered by this server>"

    def __getattr__(self, name: str) -> "Unoffered":
        if name.startswith("_"):
            raise AttributeError(name)
        return Unoffered(f"{self._path}.{name}")

    def __getitem__(self, _key: Any) -> "Unoffered":
        return self

    def __or__(self, other: Any) -> Any:
        return typing.Union[self, other]

    def __ror__(self, other: Any) -> Any:
        return typing.Union[other, self]

    def __instancecheck__(self, _instance: Any) -> bool:
        return False

    def __subclasscheck__(self, _subclass: Any) -> bool:
        return False

    def __mro_entries__(self, _bases: Any) -> tuple[type]:
        """The class that replaces this one among the bases of another class: it can be inherited from, and
        has no instances.
        """

        def refuse(_cls: Any, *_: Any, **__: Any) -> NoReturn:
            raise _refusal(self)

        def accept(_cls: Any, **_: Any) -> None:
            pass

        members = {"__new__": refuse, "__init_subclass__": classmethod(accept)}
        return (type(self._path.rpartition(".")[2], (), members),)

    def __get_pydantic_core_schema__(self, _source: Any, _handler: Any) -> Any:
        return core_schema.any_schema()


def _refuse(self: Unoffered, *_: Any, **__: Any) -> NoReturn:
    raise _refusal(self)


for _use in _USES:
    setattr(Unoffered, f"__{_use}__", _refuse)


def _refusal(member: Unoffered) -> NotOffered:
    return NotOffered(f"{member._path} is not offered by this server")


class _Module(types.ModuleType):
    """A module that has every name."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__: list[str] = []
        self.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)

    def __getattr__(self, name: str) -> Unoffered:
        if name.startswith("_"):
            raise AttributeError(name)
        return Unoffered(f"{self.__name__}.{name}")


def put_module(name: str) -> None:
    """Makes a missing module importable, with its parents."""
    above, _, last = name.rpartition(".")
    if name in sys.modules:
        return
    if above:
        put_module(above)
        setattr(sys.modules[above], last, sys.modules.setdefault(name, _Module(name)))


def put_member(module: str, name: str) -> None:
    setattr(sys.modules[module], name, Unoffered(f"{module}.{name}"))
