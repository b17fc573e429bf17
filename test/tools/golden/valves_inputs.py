from pydantic import BaseModel, Field


class Tools:
    class Valves(BaseModel):
        password: str = Field(default="", json_schema_extra={"input": {"type": "password"}})
        color: str = Field(default="#fff", json_schema_extra={"input": {"type": "color"}})
        size: str = Field(
            default="m",
            json_schema_extra={"input": {"type": "select", "options": ["s", "m", {"value": "l", "label": "Large"}]}},
        )
        model: str = Field(default="", json_schema_extra={"input": {"type": "select", "options": "get_models"}})

        @classmethod
        def get_models(cls, __user__=None):
            return ["one", "two"]

    def f(self): ...
