"""Uploads on behalf of the caller."""

import base64
import json
from typing import Any, Optional, Union

import bridge
from open_webui.models.files import FileModel


def upload_file_handler(
    request: Any = None,
    file: Any = None,
    metadata: Optional[Union[dict[str, Any], str]] = None,
    process: bool = True,
    process_in_background: bool = True,
    user: Any = None,
    background_tasks: Any = None,
    **_: Any,
) -> FileModel:
    """
    Stores an `UploadFile` as the caller's own, who must be allowed to upload. Its content is not processed any further: this
    server has no retrieval. May be called as it is, awaited, or run in a thread.
    """
    bridge.require_caller(user)
    if file is None:
        raise ValueError("upload_file_handler needs a file")
    if isinstance(metadata, str):
        metadata = json.loads(metadata)
    file.file.seek(0)
    stored = bridge.call(
        "files.upload",
        filename=file.filename or "file",
        data=base64.b64encode(file.file.read()).decode(),
        metadata=metadata or {},
    )
    return FileModel(**stored)


upload_file = upload_file_handler
