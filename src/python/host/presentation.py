"""Results that published tools return to be shown and not read: a page for the interface."""

import sys
from typing import Any

_SHOWN = {
    "status": "success",
    "code": "ui_component",
    "message": "The result is shown to the user in the interface.",
}


async def present(result: Any, emit: Any) -> Any:
    """
    An HTML response that is to be shown inline goes to the caller as an `embeds` event, and the result says so to a model.
    Any other response is its text. A pair keeps its second part, which is what a model is told.
    """
    responses = sys.modules.get("starlette.responses")
    if responses is None:
        return result
    response, told = result if isinstance(result, tuple) and len(result) == 2 else (result, None)
    if not isinstance(response, responses.Response):
        return result
    body = getattr(response, "body", None)
    if not isinstance(body, bytes):
        raise TypeError("a response that streams cannot be a result")
    text = body.decode(response.charset, "replace")
    if not isinstance(response, responses.HTMLResponse) or "inline" not in response.headers.get("content-disposition", "").lower():
        return text if told is None else told
    await emit({"type": "embeds", "data": {"embeds": [text]}})
    return _SHOWN if told is None else told
