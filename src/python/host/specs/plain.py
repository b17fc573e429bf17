"""Valves without a Pydantic model: a plain class whose attributes are the settings, as in some published
tools.
"""

import copy
from typing import Any, Optional, get_type_hints

from pydantic import BaseModel, create_model
from pydantic.fields import FieldInfo
from specs import valves

_KINDS = (bool, int, float, str, list, dict)
_NOTHING = object()


class PlainValves:
    """The settings are the defaults that a plain class declares, and the attributes that its constructor
    sets.
    """

    def __init__(self, name: str, plain: type) -> None:
        self.plain = plain
        try:
            self.made: Any = plain()
        except Exception:
            self.made = None  # Only the attributes of the class are known then.
        self.model = self._model(name)

    def _model(self, name: str) -> Optional[type[BaseModel]]:
        """None when there is no setting."""
        fields = {}
        for key, hint in {**dict.fromkeys(getattr(self.made, "__dict__", {})), **_hints(self.plain)}.items():
            default = getattr(self.made, key, getattr(self.plain, key, _NOTHING))
            field = _field(hint, default)
            if not key.startswith("_") and field is not None and _is_describable(key, field):
                fields[key] = field
        return create_model(name, __doc__=self.plain.__doc__, **fields) if fields else None

    def fill(self, values: BaseModel) -> Any:
        """An object of the class with the values; the values themselves when no object can be made."""
        if self.made is None:
            return values
        filled = copy.copy(self.made)
        for key in type(values).model_fields:
            if key in values.model_fields_set or isinstance(getattr(filled, key, None), FieldInfo):
                setattr(filled, key, getattr(values, key))
        return filled


def _hints(plain: type) -> dict[str, Any]:
    try:
        return get_type_hints(plain, include_extras=True)
    except Exception:
        return {key: hint for key, hint in plain.__dict__.get("__annotations__", {}).items() if not isinstance(hint, str)}


def _field(hint: Any, default: Any) -> Optional[tuple[Any, Any]]:
    if default is _NOTHING:
        return None
    if hint is not None:
        return (Optional[hint] if default is None else hint, default)
    kind = next((kind for kind in _KINDS if type(default) is kind), None)
    return None if kind is None else (kind, default)


def _is_describable(key: str, field: tuple[Any, Any]) -> bool:
    """Leaves out attributes without a JSON form: a client cannot set them."""
    try:
        valves.describe("Valves", create_model("Valves", **{key: field}))
    except Exception:
        return False
    return True
