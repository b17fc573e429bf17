"""Pictures: existing ones can be stored; none are generated."""

import base64
import io
import mimetypes
from typing import Any, Optional

import bridge
from open_webui.models.files import FileModel
from open_webui.routers.files import upload_file_handler
from pydantic import BaseModel

image_generations = bridge.not_offered("image_generations")
image_edits = bridge.not_offered("image_edits")


class CreateImageForm(BaseModel):
    model: Optional[str] = None
    prompt: str
    size: Optional[str] = None
    n: int = 1
    steps: Optional[int] = None
    negative_prompt: Optional[str] = None


GenerateImageForm = CreateImageForm


@bridge.awaitable
def get_image_data(data: str, headers: Optional[dict[str, str]] = None) -> tuple[Optional[bytes], Optional[str]]:
    """The bytes of a picture and their type, from an address, a data URI or plain base64; `(None, None)` when
    there is no picture.
    """
    try:
        return _fetch(data, headers) if data.startswith(("http://", "https://")) else _decode(data)
    except (OSError, ValueError):  # A network failure is an OSError.
        return None, None


def _fetch(url: str, headers: Optional[dict[str, str]]) -> tuple[Optional[bytes], Optional[str]]:
    import requests

    response = requests.get(url, headers=headers, timeout=20)
    response.raise_for_status()
    kind = response.headers.get("content-type", "").partition(";")[0]
    return (response.content, kind) if kind.startswith("image/") else (None, None)


def _decode(data: str) -> tuple[bytes, str]:
    head, comma, body = data.partition(",")
    content = base64.b64decode(body if comma else data, validate=True)
    return content, head.removeprefix("data:").partition(";")[0] if comma else "image/png"


@bridge.awaitable
def upload_image(
    request: Any, image_data: bytes, content_type: str, metadata: Optional[dict[str, Any]] = None, user: Any = None, **_: Any
) -> tuple[FileModel, str]:
    """Stores a picture as the caller's own; returns the file and the path of its content."""
    file = _Picture(f"generated-image{mimetypes.guess_extension(content_type) or ''}", io.BytesIO(image_data))
    stored = upload_file_handler(request, file, metadata, process=False, user=user)
    return stored, f"/api/v1/files/{stored.id}/content"


class _Picture:
    def __init__(self, filename: str, file: io.BytesIO) -> None:
        self.filename, self.file = filename, file
