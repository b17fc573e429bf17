"""Results of published tools that are meant to be shown: a page for the interface."""

import sys
from typing import Any

_SHOWN = {
    "status": "success",
    "code": "ui_component",
    "message": "The result is shown to the user in the interface.",
}


async def present(result: Any, emit: Any) -> Any:
    """An HTML response with inline disposition goes to the caller as an `embeds` event, and the result tells
    the model so. For any other response the result is its text. A pair keeps its second part, which is the
    text for the model.
    """
    responses = sys.modules.get("starlette.responses")
    if responses is None:
        return result
    response, told = result if isinstance(result, tuple) and len(result) == 2 else (result, None)
    if not isinstance(response, responses.Response):
        return result
    text = (await _body(response)).decode(response.charset, "replace")
    if not isinstance(response, responses.HTMLResponse) or "inline" not in response.headers.get("content-disposition", "").lower():
        return text if told is None else told
    await emit({"type": "embeds", "data": {"embeds": [text]}})
    return _SHOWN if told is None else told


async def _body(response: Any) -> bytes:
    """The full body of a streaming response. Raises TypeError for a file response."""
    body = getattr(response, "body", None)
    if isinstance(body, bytes):
        return body
    parts = getattr(response, "body_iterator", None)
    if parts is None:
        kind = type(response).__name__
        raise TypeError(f"a {kind} cannot be a result: return what the file says, or store it with upload_file_handler")
    return b"".join([bytes(part) if isinstance(part, (bytes, memoryview)) else part.encode(response.charset) async for part in parts])
