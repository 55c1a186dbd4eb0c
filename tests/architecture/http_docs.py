"""Writes docs/reference/http-api.md from the application's own description of itself.

Run `python -m tests.architecture.http_docs` after a route or a schema changed.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from memory_server import errors
from memory_server.api import families
from memory_server.api.errors import status_of
from memory_server.api.families import DIRECT, FAMILIES, FLAT, PROJECT
from memory_server.api.schemas.common import BLANK, NULL
from memory_server.api.schemas.errors import ErrorDocument

_UNSET = (NULL, BLANK)
"""Values that count as absent everywhere, as the page says on top."""

DOCUMENT = Path(__file__).parents[2] / "docs" / "reference" / "http-api.md"

HEAD = f"""# HTTP API

Generated from the application by `python -m tests.architecture.http_docs`; do not edit.

The memory routes stand under three prefixes, every one under each:

| prefix | token |
|---|---|
| `{FLAT}` | none needed on the server's own machine; one that is presented must be good |
| `{PROJECT}` | needed: the owner token, or one of a person or a service account of the project |
| `{DIRECT}` | as the first |

Which role may do what, and whom a call may name: [identity.md](identity.md). Searches and contexts
read, though they are POST. A project that enforces identity refuses calls without a token (401).

The project is the server's own or the one of the path, never one of a body; one that does not exist
is refused with 403 `PROJECT_NOT_FOUND`. Unknown fields are
ignored; null and blank values count as absent, in bodies and in query strings. Lists are never
null. Reads are limited by the AND of `user_id` and `visibility`, as far as they are given. Which
calls need no token, and what changes behind a proxy: [identity.md](identity.md). `Host`,
`Authorization` and the headers below are sent once (400 otherwise).

Headers that are read: `X-Agent-Engine-Agent-Id` (older: `X-Agentic-Agent-Id`) is the agent of what
is saved, unless the body names one. `X-Agent-Engine-Execution-Id` (older:
`X-Agentic-Execution-Id`) marks a call from inside an execution: it has to name a `user_id` or a
`visibility`, and private memory needs its user. `X-Request-ID` is kept and answered.

## Limits

Sizes, numbers, times and load are bounded: [limits.md](limits.md) lists every limit, and what
passing it is answered with.

## Errors

Every error is answered as `{{"code", "error", "detail", "request_id"}}`, where `error` and `detail`
are the same text; invalid input (422, code `VALIDATION_ERROR`) adds `"errors": [{{"loc", "msg"}}]`.
A path that is no route is 404 `ROUTE_NOT_FOUND` or 405 `METHOD_NOT_ALLOWED`. `Retry-After` is sent
where it is known.

| code | status | meaning |
|---|---|---|
"""


def document() -> str:
    """Return the whole page."""
    app = FastAPI()
    families.mount(app)
    described = app.openapi()
    shapes = described["components"]["schemas"]
    parts = [HEAD, *_errors(), "\n## Memory routes\n", f"\nPaths follow one of {_prefixes()}.\n"]
    parts += _routes(described["paths"], shapes, prefix=FLAT)
    parts.append("\n## Other routes\n")
    parts += _routes(described["paths"], shapes, prefix="")
    parts.append("\n## Shapes\n")
    for name in sorted(_named_shapes(described["paths"], shapes)):
        parts.append(f"\n### {name}\n\n")
        parts += _shape(shapes[name])
    return "".join(parts)


def _prefixes() -> str:
    return ", ".join(f"`{prefix}`" for prefix in FAMILIES)


def _errors() -> Iterator[str]:
    drawn = re.findall(r"^ *[*+.-] (\w+)$", errors.__doc__ or "", re.MULTILINE)
    for kind in (getattr(errors, name) for name in drawn):
        reason = " ".join(str(kind.__doc__).split())
        yield f"| `{kind.code}` | {status_of(kind)} | {reason} |\n"


def _is_memory_route(path: str, paths: Mapping[str, Any]) -> bool:
    """Whether a path stands under one of the three prefixes as the same route does under all."""
    tails = [path.removeprefix(prefix) for prefix in FAMILIES if path.startswith(f"{prefix}/")]
    return any(all(prefix + tail in paths for prefix in FAMILIES) for tail in tails)


def _routes(paths: Mapping[str, Any], shapes: Mapping[str, Any], *, prefix: str) -> Iterator[str]:
    for path, methods in paths.items():
        wanted = path.startswith(f"{prefix}/") if prefix else not _is_memory_route(path, paths)
        for method, operation in methods.items() if wanted else ():
            yield f"\n### {method.upper()} {path.removeprefix(prefix)}\n\n"
            yield f"{operation.get('description', operation['summary'])}\n"
            yield from _parameters(operation)
            yield from _exchange(operation)


def _parameters(operation: Mapping[str, Any]) -> Iterator[str]:
    query = [one for one in operation.get("parameters", ()) if one["in"] == "query"]
    if query:
        yield "\nQuery: " + ", ".join(_parameter(one) for one in query) + "\n"


def _parameter(given: Mapping[str, Any]) -> str:
    schema = given["schema"]
    default = schema.get("default")
    suffix = "" if default is None else f" = {_value(default)}"
    return f"`{given['name']}` ({_kind(schema)}{suffix})"


def _exchange(operation: Mapping[str, Any]) -> Iterator[str]:
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        yield f"\nBody ({media}): {_reference(content['schema'])}\n"
        yield from _inline(content["schema"])
    refusals = [status for status, answer in operation["responses"].items() if _is_refusal(answer)]
    for status, answer in operation["responses"].items():
        for media, content in answer.get("content", {}).items() if status not in refusals else ():
            yield f"\n{status} ({media}): {_reference(content.get('schema', {}))}\n"
        if not answer.get("content"):
            yield f"\n{status}: no body\n"
    if refusals:
        yield f"\nErrors: {', '.join(refusals)}\n"


def _is_refusal(answer: Mapping[str, Any]) -> bool:
    """Whether an answer is the envelope of all errors."""
    schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
    return str(schema.get("$ref", "")).endswith(f"/{ErrorDocument.__name__}")


def _inline(schema: Mapping[str, Any]) -> Iterator[str]:
    if "properties" in schema:
        yield "\n"
        yield from _shape(schema)


def _reference(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    options = [one for one in schema.get("anyOf", ()) if one not in _UNSET]
    if options:
        return " or ".join(_reference(one) for one in options) + ", or none"
    return "the fields below" if "properties" in schema else _kind(schema)


def _shape(schema: Mapping[str, Any]) -> Iterator[str]:
    if "enum" in schema:
        yield "One of " + ", ".join(f"`{value}`" for value in schema["enum"]) + ".\n"
        return
    if reason := schema.get("description"):
        yield f"{' '.join(reason.split())}\n\n"
    yield "| field | type | default | |\n|---|---|---|---|\n"
    for name, field in schema.get("properties", {}).items():
        needed = name in schema.get("required", ())
        default = "required" if needed else _value(field.get("default"))
        reason = " ".join(field.get("description", "").split())
        yield f"| `{name}` | {_kind(field)} | {default} | {reason} |\n"


def _value(value: object) -> str:
    if value in (None, "", [], {}):
        return "none" if value is None else "empty"
    return f"`{str(value).lower()}`" if isinstance(value, bool) else f"`{value}`"


def _kind(schema: Mapping[str, Any]) -> str:
    """Return the type of a value in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    options = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if options:
        kinds = dict.fromkeys(_kind(one) for one in options if one not in _UNSET)
        return " or ".join(kinds)
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return str(schema.get("type", "any")) + _bounds(schema)


def _bounds(schema: Mapping[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is None or high is None:
        return "" if low is None else f" from {low:.0f}"
    return f" {low:.0f} to {high:.0f}"


def _named_shapes(paths: Mapping[str, Any], shapes: Mapping[str, Any]) -> set[str]:
    """Return every shape that the routes lead to, without the framework's own."""
    found: set[str] = set()
    waiting: list[Any] = [
        part
        for methods in paths.values()
        for operation in methods.values()
        for status, part in [
            ("", operation.get("requestBody", {})),
            *operation["responses"].items(),
        ]
        if status == "" or not _is_refusal(part)
    ]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            name = str(value.get("$ref", "")).rpartition("/")[2]
            if name in shapes and name not in found:
                found.add(name)
                waiting.append(shapes[name])
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return found


if __name__ == "__main__":
    DOCUMENT.parent.mkdir(parents=True, exist_ok=True)
    DOCUMENT.write_text(document(), encoding="utf-8")
