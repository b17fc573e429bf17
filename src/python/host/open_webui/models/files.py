"""Uploads: those that the caller may read."""

from typing import Any, Optional

import bridge
from pydantic import BaseModel, ConfigDict

__all__ = ["FileModel", "FileModelResponse", "Files"]


class FileModel(bridge.Awaitable, BaseModel):
    model_config = ConfigDict(extra="allow")

    id: str
    user_id: str
    filename: str
    hash: Optional[str] = None
    # The bytes lie with the server, where a tool cannot reach; it fetches `/api/v1/files/{id}/content`.
    path: Optional[str] = None
    data: Optional[dict[str, Any]] = None
    meta: Optional[dict[str, Any]] = None
    created_at: int = 0
    updated_at: int = 0


FileModelResponse = FileModel


class _Files:
    def get_file_by_id(self, id: str) -> Optional[FileModel]:
        """None for a file that is not there, or that the caller may not read."""
        found = bridge.call("files.get", id=id)
        return None if found is None else FileModel(**found)

    def get_files_by_user_id(self, user_id: str) -> list[FileModel]:
        """The caller's own, the newest 200."""
        bridge.require_caller({"id": user_id})
        return [FileModel(**found) for found in bridge.call("files.list")]

    def __getattr__(self, name: str) -> Any:
        return bridge.not_offered(f"Files.{name}")


Files = _Files()
