"""Uploads that the caller may read."""

import base64
import os
import tempfile
from pathlib import Path
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
    data: Optional[dict[str, Any]] = {}
    meta: Optional[dict[str, Any]] = None
    created_at: int = 0
    updated_at: int = 0

    @property
    def path(self) -> str:
        """Path of the content until the call ends: in the tool's own folder, to which the content is brought
        at first use.
        """
        place = Path(bridge.folder(), self.id, Path(self.filename).name or "file")
        if not place.exists():
            _bring(self.id, place)
        return str(place)


def _bring(id: str, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    # A unique name: another call of the tool may fetch the same file at the same time, in another thread.
    descriptor, draft = tempfile.mkstemp(dir=place.parent)
    try:
        with open(descriptor, "wb") as file:
            while part := base64.b64decode(bridge.call("files.read", id=id, start=file.tell())):
                file.write(part)
        os.replace(draft, place)
    except BaseException:
        os.unlink(draft)
        raise


FileModelResponse = FileModel


class _Files:
    @bridge.awaitable
    def get_file_by_id(self, id: str) -> Optional[FileModel]:
        """None for a file that does not exist or that the caller may not read."""
        found = bridge.call("files.get", id=id)
        return None if found is None else FileModel(**found)

    @bridge.awaitable
    def get_files_by_user_id(self, user_id: str) -> list[FileModel]:
        """The caller's own files, the newest 200."""
        bridge.require_caller({"id": user_id})
        return [FileModel(**found) for found in bridge.call("files.list")]

    def __getattr__(self, name: str) -> Any:
        return bridge.not_offered(f"Files.{name}")


Files = _Files()
