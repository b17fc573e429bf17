from typing import Literal, Optional

from pydantic import BaseModel, Field, SecretStr


class Server(BaseModel):
    url: str
    weight: float = 1.0


class Tools:
    class Valves(BaseModel):
        """Settings of the tool."""

        token: SecretStr = Field(default=SecretStr(""), description="Never shown")
        region: Literal["eu", "us"] = "eu"
        limit: Optional[int] = Field(default=None, ge=1)
        hosts: list[str] = []
        servers: list[Server] = []
        headers: dict[str, str] = {}
        name_with_underscores: bool = True
        required_one: str

    class UserValves(BaseModel):
        pass

    def f(self): ...
