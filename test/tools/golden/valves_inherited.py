from pydantic import BaseModel, Field


class Common(BaseModel):
    priority: int = Field(default=0, description="Order of the tool")


class Tools:
    class Valves(Common):
        base_url: str = "http://localhost:11434"

    class UserValves(Common):
        enabled: bool = True

    def __init__(self):
        self.valves = self.Valves()
        self.user_valves = self.UserValves()

    def f(self): ...
