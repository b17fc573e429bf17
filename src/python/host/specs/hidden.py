"""The parameters that begin with an underscore: the server fills them in when a function declares them."""

from typing import Any, Optional
from urllib.parse import quote, urlsplit


class Request:
    """Stands in for the request that published tools expect as `__request__`. It names the server and the
    request, and holds no data of the caller: no cookies, no credentials, no other headers.
    """

    def __init__(self, base_url: str, request_id: str) -> None:
        self.method = "POST"
        self.base_url = self.url = Address(base_url)
        self.headers = _Headers("__request__.headers", _BARE)
        if request_id:
            self.headers["x-request-id"] = request_id
        self.cookies = _Empty("__request__.cookies", _BARE)
        self.query_params = _Empty("__request__.query_params", _BARE)
        self.client = None
        self.state = _NotOffered("__request__.state")
        self.app = _App("__request__.app")

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"__request__.{name} is not offered by this server")

    def url_for(self, name: str, /, **values: Any) -> "Address":
        """As `app.url_path_for`, with the address of the server in front."""
        return Address(self.base_url.rstrip("/") + self.app.url_path_for(name, **values))


class Address(str):
    """A text with its parts."""

    def __getattr__(self, name: str) -> Any:
        if name in ("scheme", "netloc", "path", "query", "fragment", "hostname", "port"):
            return getattr(urlsplit(self), name)
        raise AttributeError(f"an address has no {name}")


class NotHere(KeyError, IndexError):
    __str__ = LookupError.__str__  # `__str__` of KeyError would quote the sentence.


class _Empty(dict[str, Any]):
    """A dictionary without members. The error for a missing member says why it is absent."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__()
        self._name, self._reason = name, reason

    def __missing__(self, key: Any) -> Any:
        raise NotHere(f"{self._name}[{key!r}] is not there: {self._reason}")

    def __reduce__(self) -> Any:
        return dict, (dict(self),)  # Copies and pickles are plain dictionaries.


class _Headers(_Empty):
    """Names of headers are read in any case."""

    def __getitem__(self, name: Any) -> Any:
        return super().__getitem__(_folded(name) if name in self else name)

    def __contains__(self, name: Any) -> bool:
        return super().__contains__(_folded(name))

    def get(self, name: Any, default: Any = None) -> Any:
        return super().get(_folded(name), default)


def _folded(name: Any) -> Any:
    return name.lower() if isinstance(name, str) else name


class _EmptyList(list[Any]):
    """The same for a list."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__()
        self._name, self._reason = name, reason

    def __getitem__(self, index: Any) -> Any:
        try:
            return super().__getitem__(index)
        except IndexError:
            raise NotHere(f"{self._name}[{index}] is not there: {self._reason}") from None

    def __reduce__(self) -> Any:
        return list, (list(self),)


_BARE = "it carries nothing of the caller"
_ALONE = "this call is not part of a conversation"


class _NotOffered:
    _path = "__request__"  # Used while a copy is being made.

    def __init__(self, path: str) -> None:
        self._path = path

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{self._path}.{name} is not offered by this server")


# Addresses to which tools send their callers, by the names that comparable systems use.
_PATHS = {"get_file_by_id": "/api/v1/files/{id}", "get_file_content_by_id": "/api/v1/files/{id}/content"}


class _App(_NotOffered):
    def url_path_for(self, name: str, /, **values: Any) -> str:
        """The path of a resource on this server. Raises LookupError for an unknown name."""
        if name not in _PATHS:
            raise LookupError(f"__request__.app.url_path_for({name!r}) is not offered by this server")
        return _PATHS[name].format_map({key: quote(str(value), safe="") for key, value in values.items()})


def parameters(request: dict[str, Any], user: dict[str, Any], emit: Any, ask: Any) -> dict[str, Any]:
    """The parameters of one call by name. Context that the caller did not send is empty."""
    context: dict[str, Optional[Any]] = request["context"]
    return {
        "__user__": user,
        "__id__": request["tool"],
        "__event_emitter__": emit,
        "__event_call__": ask,
        "__request__": Request(request["base_url"], request["request_id"]),
        "__messages__": context.get("messages") or _EmptyList("__messages__", _ALONE),
        "__files__": context.get("files") or _EmptyList("__files__", _ALONE),
        "__metadata__": context.get("metadata") or _Empty("__metadata__", _ALONE),
        "__model__": context.get("model") or _Empty("__model__", _ALONE),
        "__chat_id__": context.get("chat_id"),
        "__message_id__": context.get("message_id"),
        "__oauth_token__": None,
    }
