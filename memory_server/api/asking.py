"""What a request is about, as far as can be told before anybody looks into it."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.types import Scope

from memory_server.api.admission import Admission, Asking
from memory_server.domain.limits import MAX_BODY_BYTES, MAX_PORTION_BYTES

RECORDING_TOOL = "record_turn"
"""The one tool that writes."""

# Whole paths, because projects, sessions and types of the user's own may be called anything.
_PROJECT = "/api/v1/projects/[^/]+"
_READS = re.compile(
    f"(?:/api/v1|/api/v1/memory|{_PROJECT}/memory)"
    "/(?:search|context|retrieval/[^/]+|blocks/search|turns/search|types/[^/]+/retrieve)"
    "|/api/v1/(?:oauth/token|auth/login|auth/refresh)"
)
_MCP = re.compile(f"{_PROJECT}/mcp")
_TAKES_LONG = re.compile(
    f"(?:/api/v1|{_PROJECT})/admin/.+"
    f"|{_PROJECT}/workspaces/[^/]+/invoke(?:Stream)?|/invoke(?:/stream)?"
)
_PORTION = re.compile(f"(?:/api/v1|{_PROJECT})/admin/import")
_WRITING = frozenset(("POST", "PUT", "PATCH", "DELETE"))


def asking_of(scope: Scope, headers: Headers, content: Any, admission: Admission) -> Asking:
    """Return who asks for whom; what cannot be told here is told, and refused, by the route."""
    shown = headers.get("authorization")
    path: str = scope["path"]
    said: Mapping[str, Any] = content if isinstance(content, Mapping) else {}
    writes = scope["method"] in _WRITING and not _only_reads(path)
    if _MCP.fullmatch(path):
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
    return _TAKES_LONG.fullmatch(path) is not None


def most_bytes(path: str) -> int:
    """Return how large the body of a request may be."""
    return MAX_PORTION_BYTES if _PORTION.fullmatch(path) else MAX_BODY_BYTES


def _only_reads(path: str) -> bool:
    return _READS.fullmatch(path) is not None


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
