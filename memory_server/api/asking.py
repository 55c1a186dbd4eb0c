"""What a request is about, as far as can be told before anybody looks into it."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.types import Scope

from memory_server.api.admission import Admission, Asking

RECORDING_TOOL = "record_turn"
"""The one tool that writes."""

_READS = ("/search", "/context", "/context-from-sources", "/retrieve")
_RETRIEVAL = "/retrieval/"
_NOT_MEMORY = ("/oauth/token", "/auth/login", "/auth/refresh")
_MCP = "/mcp"
_ADMINISTRATION = "/admin/"
_INVOCATIONS = ("/invoke", "/invokeStream")
_WRITING = frozenset(("POST", "PUT", "PATCH", "DELETE"))


def asking_of(scope: Scope, headers: Headers, content: Any, admission: Admission) -> Asking:
    """Return who asks for whom; what cannot be told here is told, and refused, by the route."""
    shown = headers.get("authorization")
    path: str = scope["path"]
    said: Mapping[str, Any] = content if isinstance(content, Mapping) else {}
    writes = scope["method"] in _WRITING and not _only_reads(path)
    if path.endswith(_MCP):
        said, writes = _of_tool(said)
    address = scope.get("client")
    return Asking(
        caller=hash(shown) if shown else (address[0] if address else None),
        is_trusted=admission.is_trusted(shown),
        project_id=_project_of(path),
        user_id=_text(said.get("user_id")) or _queried(scope),
        writes=writes,
        takes_long=takes_its_time(path),
    )


def takes_its_time(path: str) -> bool:
    """Whether a route takes as long as a model, or as there is work, and bounds itself."""
    return _ADMINISTRATION in path or path.endswith(_INVOCATIONS)


def _only_reads(path: str) -> bool:
    return path.endswith((*_READS, *_NOT_MEMORY)) or _RETRIEVAL in path


def _of_tool(message: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    """Return the arguments of a tool that is called, and whether it writes."""
    parameters = message.get("params")
    if not isinstance(parameters, Mapping):
        return {}, False
    arguments = parameters.get("arguments")
    named = arguments if isinstance(arguments, Mapping) else {}
    return named, parameters.get("name") == RECORDING_TOOL


def _project_of(path: str) -> str | None:
    """Return the project that a path names."""
    _, found, after = path.partition("/projects/")
    return after.partition("/")[0] if found else None


def _queried(scope: Scope) -> str | None:
    given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("user_id", [""])
    return _text(given[0])


def _text(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) else None
