"""The parameters that begin with an underscore: what the server fills in when a function declares them."""

from typing import Any, Optional
from urllib.parse import quote, urlsplit


class Request:
    """
    Stands in for the request that published tools expect as `__request__`. It names the server and carries nothing of the
    caller: no headers, no cookies, no credentials.
    """

    def __init__(self, base_url: str) -> None:
        self.method = "POST"
        self.base_url = self.url = Address(base_url)
        self.headers: dict[str, str] = {}
        self.cookies: dict[str, str] = {}
        self.query_params: dict[str, str] = {}
        self.client = None
        self.state = _NotOffered("__request__.state")
        self.app = _App("__request__.app")

    def url_for(self, name: str, /, **values: Any) -> "Address":
        """As `app.url_path_for`, with the server before it."""
        return Address(self.base_url.rstrip("/") + self.app.url_path_for(name, **values))


class Address(str):
    """A text with its parts."""

    def __getattr__(self, name: str) -> Any:
        if name in ("scheme", "netloc", "path", "query", "fragment", "hostname", "port"):
            return getattr(urlsplit(self), name)
        raise AttributeError(f"an address has no {name}")


class _NotOffered:
    def __init__(self, path: str) -> None:
        self._path = path

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{self._path}.{name} is not offered by this server")


# Where tools send their callers, by the names that comparable systems have for it.
_PATHS = {"get_file_by_id": "/api/v1/files/{id}", "get_file_content_by_id": "/api/v1/files/{id}/content"}


class _App(_NotOffered):
    def url_path_for(self, name: str, /, **values: Any) -> str:
        """The path of something on this server. Raises LookupError for what it does not have under that name."""
        if name not in _PATHS:
            raise LookupError(f"__request__.app.url_path_for({name!r}) is not offered by this server")
        return _PATHS[name].format_map({key: quote(str(value), safe="") for key, value in values.items()})


def parameters(request: dict[str, Any], user: dict[str, Any], emit: Any, ask: Any) -> dict[str, Any]:
    """By name, for one call; a context that the caller does not have is empty."""
    context: dict[str, Optional[Any]] = request["context"]
    return {
        "__user__": user,
        "__id__": request["tool"],
        "__event_emitter__": emit,
        "__event_call__": ask,
        "__request__": Request(request["base_url"]),
        "__messages__": context.get("messages") or [],
        "__files__": context.get("files") or [],
        "__metadata__": context.get("metadata") or {},
        "__model__": context.get("model") or {},
        "__chat_id__": context.get("chat_id"),
        "__message_id__": context.get("message_id"),
        "__oauth_token__": None,
    }
