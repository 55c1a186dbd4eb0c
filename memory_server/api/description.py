"""The server's description of itself: what the framework cannot know of its routes.

Which statuses a route answers with follows from what it does, so it is said here by rule and not
on each route: a route added later is described too. What a rule says too little of is found by the
test that compares every answer with the description.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from memory_server.api.dependencies import is_only_reading
from memory_server.api.schemas.common import BLANK
from memory_server.api.schemas.errors import ErrorDocument

REASONS: Mapping[int, str] = {
    400: "The request is understood, and cannot be done as it is",
    401: "No bearer token where one is needed, or one that is not valid any more",
    403: "The caller may not do this",
    404: "There is no such thing",
    408: "The body took too long to arrive",
    409: "It collides with what is stored, or with a change made meanwhile",
    413: "Larger than the documented limit",
    421: "This server has the role `worker` and answers only how it is; ask another",
    422: "The request does not fit its schema; `errors` lists every place",
    429: "Too many requests; `Retry-After` says how long to wait",
    502: "A model's answer is of no use",
    503: "The store, a model or an index is away; the same call may succeed later",
    504: "It took too long and was given up",
    507: "The store has no room left",
}

OPEN = ("/health", "/ready", "/metrics", "/oauth/token", "/auth/login", "/auth/refresh")
"""Ends of paths that no token opens: they say how the server is, or give tokens."""
_GUARDED = ("/projects", "/organizations", "/admin", "/auth", "/secrets")
_ASKING_MODELS = ("search", "context", "retrieval", "retrieve", "invoke")
_COPYING = "/admin/backup"
"""It changes nothing that is remembered, and needs a store that is a file, and room for another."""
_ABOUT = ("title", "default", "description")
_PARAMETER = re.compile(r"{(\w+)}")

_BEARER = "bearer"
_SCHEMES = {
    _BEARER: {
        "type": "http",
        "scheme": "bearer",
        "description": "The owner token, or the access token of a person or a service account",
    }
}


def describe(app: FastAPI) -> None:
    """Complete the application's OpenAPI document."""
    generate = app.openapi

    def described() -> dict[str, Any]:
        document = generate()
        if "securitySchemes" not in document["components"]:
            _complete(document, dict(_reading(app)))
        return document

    app.openapi = described  # type: ignore[method-assign]  # as the framework asks to extend it


def _reading(app: FastAPI) -> Iterator[tuple[tuple[str, str], bool]]:
    """Yield for each path and method whether the route only reads."""
    for route in iter_route_contexts(app.routes):
        for method in route.methods or ():
            yield (str(route.path_format), method), is_only_reading(method, route.endpoint)


def _complete(document: dict[str, Any], reading: Mapping[tuple[str, str], bool]) -> None:
    components = document["components"]
    components["securitySchemes"] = _SCHEMES
    for foreign in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(foreign, None)
    components["schemas"][ErrorDocument.__name__] = ErrorDocument.model_json_schema(
        ref_template="#/components/schemas/{model}"
    )
    components["schemas"] |= components["schemas"][ErrorDocument.__name__].pop("$defs", {})
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            writes = not reading.get((path, method.upper()), False)
            _say_parameters(path, operation)
            _say_security(path, operation)
            _say_errors(path, operation, writes=writes)
            _say_events(operation)


def _say_parameters(path: str, operation: dict[str, Any]) -> None:
    """Name the parameters of the path that the route's function does not ask for."""
    given = operation.setdefault("parameters", [])
    known = {one["name"] for one in given if one["in"] == "path"}
    for name in _PARAMETER.findall(path):
        if name not in known:
            schema = {"type": "string", "minLength": 1}
            given.append({"name": name, "in": "path", "required": True, "schema": schema})
    for one in given:
        if one["in"] == "query" and not one.get("required", False):
            one["schema"] = _or_blank(one["schema"])


def _or_blank(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a query parameter that may be sent blank."""
    options = schema.get("anyOf") or [
        {key: value for key, value in schema.items() if key not in ("title", "default")}
    ]
    if {"type": "string"} in options:
        return schema
    kept: dict[str, Any] = {key: value for key, value in schema.items() if key in _ABOUT}
    return kept | {"anyOf": [*options, dict(BLANK)]}


def _say_security(path: str, operation: dict[str, Any]) -> None:
    if path.endswith(OPEN):
        return
    needed = _is_guarded(path)
    operation["security"] = [{_BEARER: []}] if needed else [{}, {_BEARER: []}]


def _is_guarded(path: str) -> bool:
    return any(f"{guarded}/" in f"{path}/" for guarded in _GUARDED)


def _say_errors(path: str, operation: dict[str, Any], *, writes: bool) -> None:
    answers: dict[str, Any] = operation["responses"]
    for foreign in ("default", "422"):
        answers.pop(foreign, None)
    schema = {"$ref": f"#/components/schemas/{ErrorDocument.__name__}"}
    for status in _statuses(path, operation, writes=writes):
        if str(status) not in answers:
            answers[str(status)] = {
                "description": REASONS[status],
                "content": {"application/json": {"schema": schema}},
            }
    operation["responses"] = dict(sorted(answers.items()))


def _statuses(path: str, operation: Mapping[str, Any], *, writes: bool) -> Iterator[int]:
    """Yield the statuses of the errors that a route can answer with."""
    if path in ("/health", "/ready", "/metrics"):
        yield from (503,) if path == "/metrics" else ()
        return
    yield from (400, 401, 403, 429, 503, 504)
    if any(name != "project_id" for name in _PARAMETER.findall(path)) or "types" in path:
        yield 404
    if "requestBody" in operation:
        yield from (408, 413)
    if "requestBody" in operation or any(one["in"] == "query" for one in operation["parameters"]):
        yield 422
    if writes or path.endswith(_COPYING):
        yield from (409, 507)
    if any(asking in path for asking in _ASKING_MODELS):
        yield 502


def _say_events(operation: Mapping[str, Any]) -> None:
    """Say of a stream that its schema is of what the events carry as their data."""
    for answer in operation["responses"].values():
        stream = answer.get("content", {}).get("text/event-stream")
        if stream is not None:
            data = {
                "type": "string",
                "contentMediaType": "application/json",
                "contentSchema": stream["schema"],
            }
            stream["schema"] = {
                "type": "object",
                "required": ["data"],
                "properties": {"data": data},
            }
