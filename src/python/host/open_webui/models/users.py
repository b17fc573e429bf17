"""Accounts: callers see their own, administrators see all."""

from typing import Any, Optional

import bridge
from pydantic import BaseModel, ConfigDict

__all__ = ["UserModel", "UserResponse", "Users"]


class UserModel(bridge.Awaitable, BaseModel):
    model_config = ConfigDict(extra="allow")

    id: str
    name: str
    email: str
    role: str = "pending"
    username: Optional[str] = None
    profile_image_url: str = "/user.png"
    last_active_at: int = 0
    updated_at: int = 0
    created_at: int = 0


UserResponse = UserModel


class _Users:
    @bridge.awaitable
    def get_user_by_id(self, id: str) -> Optional[UserModel]:
        """None for an account that does not exist or that the caller may not see."""
        return _model(bridge.call("users.get", id=id))

    @bridge.awaitable
    def get_user_by_email(self, email: str) -> Optional[UserModel]:
        """None when no account has the address, or when the caller may not see the account."""
        return _model(bridge.call("users.find", email=email))

    def __getattr__(self, name: str) -> Any:
        return bridge.not_offered(f"Users.{name}")


def _model(found: Any) -> Optional[UserModel]:
    return None if found is None else UserModel(**found)


Users = _Users()
