"""Uploads on behalf of the caller."""

import base64
import json
from typing import Any, Optional, Union

import bridge
from open_webui.models.files import FileModel

# The server takes at most one message of a tool at once.
_PART_BYTES = 4 * 1024 * 1024


class _Stored(bridge.Awaitable, dict[str, Any]):
    """A file as its dictionary, with the members as attributes too: published tools use either form."""

    def __init__(self, file: FileModel) -> None:
        super().__init__({"status": True, **file.model_dump()})
        self._file = file

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name] if name in self else getattr(self._file, name)


def upload_file_handler(
    request: Any = None,
    file: Any = None,
    metadata: Optional[Union[dict[str, Any], str]] = None,
    process: bool = True,
    process_in_background: bool = True,
    user: Any = None,
    background_tasks: Any = None,
    **_: Any,
) -> Union[FileModel, _Stored]:
    """Stores an `UploadFile` as the caller's own; the caller must have the permission to upload. The content
    is not processed further: this server has no retrieval. May be called, awaited, or run in a thread.
    When asked to process, it returns a dictionary, otherwise a model.
    """
    bridge.require_caller(user)
    if file is None:
        raise ValueError("upload_file_handler needs a file")
    if isinstance(metadata, str):
        metadata = json.loads(metadata)
    stored = FileModel(**_upload(file.file, filename=file.filename or "file", metadata=metadata or {}))
    return _Stored(stored) if process else stored


def _upload(file: Any, **described: Any) -> Any:
    """Uploads in parts; the server keeps none of them unless it gets the last one."""
    file.seek(0)
    part = file.read(_PART_BYTES)
    upload = None
    while True:
        following = file.read(_PART_BYTES)
        data, is_last = base64.b64encode(part).decode(), not following
        if upload is None:
            answer = bridge.call("files.upload", data=data, is_last=is_last, **described)
        else:
            answer = bridge.call("files.upload.part", upload=upload, data=data, is_last=is_last)
        if is_last:
            return answer
        upload = upload if upload is not None else answer
        part = following


upload_file = upload_file_handler
