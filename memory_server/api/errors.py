"""Errors as answers: one table from class to status, one envelope.

`{"code", "error", "detail", "request_id"}`, always; `error` and `detail` are the same text,
because clients of different ages read one or the other. Answers to invalid input add
`"errors": [{"loc", "msg"}]`.
"""

import logging
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.routing import Match

from memory_server import errors
from memory_server.api.nearness import is_near
from memory_server.api.places import told
from memory_server.domain.characters import whole
from memory_server.domain.retry import bounded_wait
from memory_server.errors import InvalidProjectConfig, MemoryServerError
from memory_server.project_config import Problem

logger = logging.getLogger(__name__)

STATUSES: Mapping[type[MemoryServerError], int] = {
    MemoryServerError: 500,
    errors.InvalidRequest: 400,
    errors.PublishingPath: 422,
    errors.NotFound: 404,
    # Clients read a 404 of the routes they call most as "this is no memory server".
    errors.ProjectNotFound: 403,
    errors.Forbidden: 403,
    errors.NotAuthenticated: 401,
    errors.Conflict: 409,
    errors.LimitExceeded: 429,
    errors.TooLarge: 413,
    errors.Overloaded: 503,
    errors.BodyTooSlow: 408,
    errors.DeadlineExceeded: 504,
    errors.StorageError: 500,
    errors.StorageUnavailable: 503,
    errors.StorageFull: 507,
    errors.StorageLocked: 503,
    errors.ProviderError: 502,
    errors.ProviderUnavailable: 503,
    errors.ProviderRateLimited: 503,
    errors.ProviderMissing: 503,
    errors.InputTooLong: 413,
    errors.BudgetSpent: 429,
    errors.InvalidProjectConfig: 422,
    errors.RollFailed: 502,
    errors.WorkerOnly: 421,
    errors.AgentError: 502,
    errors.AgentUnloadable: 503,
    errors.AgentBusy: 503,
    errors.AgentTimedOut: 504,
    errors.AllSourcesFailed: 503,
    errors.SourceNotIndexed: 503,
}
"""The status of each class; a class that is not here has that of its nearest ancestor."""

_CODES: Mapping[int, str] = {
    404: "ROUTE_NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    413: "TOO_LARGE",
    415: "UNSUPPORTED_MEDIA_TYPE",
}
_NO_OBJECT = ("model_type", "model_attributes_type")
NEEDS_OBJECT = "the body has to be a JSON object, sent with Content-Type: application/json"
_RETRY_AFTER = 1  # seconds, where an unavailable thing does not say when it will be back


def status_of(kind: type[MemoryServerError]) -> int:
    """Return the status that errors of a class are answered with."""
    return next(STATUSES[ancestor] for ancestor in kind.__mro__ if ancestor in STATUSES)


def request_id(request: Request) -> str:
    """Return the id under which this request is answered and logged."""
    return str(request.scope.get("request_id", ""))


def envelope(
    request: Request,
    status: int,
    code: str,
    message: str,
    *,
    headers: Mapping[str, str] | None = None,
    **more: Any,
) -> JSONResponse:
    """Return an error as an answer."""
    message = whole(message)
    content = {
        "code": code,
        "error": message,
        "detail": message,
        "request_id": request_id(request),
        **more,
    }
    return JSONResponse(content, status_code=status, headers=dict(headers or {}))


def install(app: FastAPI) -> None:
    """Make the application answer every error with the envelope."""
    app.add_exception_handler(MemoryServerError, _known)
    app.add_exception_handler(RequestValidationError, of_invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unknown)


def of_memory_server(request: Request, error: MemoryServerError) -> JSONResponse:
    """Return the answer to an error of ours."""
    status = status_of(type(error))
    message = str(error)
    if status >= 500:
        level = logging.WARNING if error.retryable else logging.ERROR
        logger.log(level, "request %s: %s: %s", request_id(request), error.code, message)
    problems = error.details.get("problems", ())
    more: dict[str, Any] = {"problems": [*map(str, problems)]} if problems else {}
    if isinstance(error, InvalidProjectConfig):
        more["errors"] = [*map(_misconfigured, problems)]
    # Whoever runs the server reads where the store is in the log, and here on its own machine.
    shown = message if is_near(request) else told(error)
    return envelope(request, status, error.code, shown, headers=_headers(status, error), **more)


def _misconfigured(problem: Any) -> dict[str, Any]:
    """Return a problem of a configuration as one of a body; those of providers have no path."""
    if not isinstance(problem, Problem):
        return {"loc": ["body"], "msg": str(problem)}
    steps = re.findall(r"[^.\[\]]+", problem.path)
    return {
        "loc": ["body", *(int(step) if step.isdecimal() else step for step in steps)],
        "msg": problem.message,
    }


def _headers(status: int, error: MemoryServerError) -> dict[str, str]:
    if status == 401:
        return {"WWW-Authenticate": "Bearer"}
    wait = bounded_wait(error.details.get("retry_after"))
    if wait is None and status == 503 and error.retryable:
        wait = _RETRY_AFTER
    return {} if wait is None else {"Retry-After": str(math.ceil(wait))}


async def _known(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, MemoryServerError)
    return of_memory_server(request, error)


async def of_invalid(request: Request, error: Exception) -> JSONResponse:
    """Answer what does not fit its schema, naming the places but never echoing the values."""
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    problems = [_problem(one) for one in found if not _is_echo(one, found)]
    return envelope(request, 422, "VALIDATION_ERROR", _summary(problems), errors=problems)


def _problem(found: Mapping[str, Any]) -> dict[str, Any]:
    if found["type"] == "json_invalid":
        return {"loc": ["body"], "msg": "the body is not valid JSON"}
    if found["loc"] == ("body",) and found["type"] in _NO_OBJECT:
        return {"loc": ["body"], "msg": NEEDS_OBJECT}
    message = _of_size(found) or str(found["msg"]).removeprefix("Value error, ")
    return {"loc": list(found["loc"]), "msg": message}


def _is_echo(found: Mapping[str, Any], among: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a list is called too short only because items of it are refused."""
    place = tuple(found["loc"])
    within = (tuple(one["loc"]) for one in among if one is not found)
    return found["type"] == "too_short" and any(loc[: len(place)] == place for loc in within)


def _of_size(found: Mapping[str, Any]) -> str | None:
    """Say how long a list or a secret has to be, in words for who wrote it."""
    if found["type"] not in ("too_short", "too_long"):
        return None
    about = found["ctx"]
    bound = about.get("min_length", about.get("max_length"))
    limit = "at least" if found["type"] == "too_short" else "at most"
    unit = "character" if about["field_type"] == "Value" else "item"
    return f"Input should have {limit} {bound} {unit}{'' if bound == 1 else 's'}"


def _summary(problems: Sequence[Mapping[str, Any]]) -> str:
    parts = []
    for problem in problems[:5]:
        place = ".".join(str(step) for step in problem["loc"] if step != "body")
        parts.append(f"{place}: {problem['msg']}" if place else problem["msg"])
    more = f" (and {len(problems) - 5} more)" if len(problems) > 5 else ""
    return "; ".join(parts) + more


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    status = error.status_code
    messages = {
        404: f"this server has no route {request.scope['path']}{_without_slash(request)}",
        405: f"{request.url.path} does not take {request.method}",
    }
    message = messages.get(status, str(error.detail))
    code = _CODES.get(status, "INVALID_REQUEST" if status < 500 else "INTERNAL")
    headers = {"Allow": ", ".join(_methods(request))} if status == 405 else error.headers
    return envelope(request, status, code, message, headers=headers)


def _without_slash(request: Request) -> str:
    return "; leave out the slash at its end" if request.scope["path"].endswith("/") else ""


def _methods(request: Request) -> Sequence[str]:
    """Return every method that the path takes; each route knows only its own.

    Of routes that match, those with the fewest placeholders are meant: `/proposals/approve` is no
    `/proposals/{proposal_id}`.
    """
    found: dict[int, set[str]] = {}
    for route in iter_route_contexts(request.app.routes):
        match, _ = route.matches(request.scope)
        if match is not Match.NONE:
            placeholders = str(route.path_format).count("{")
            found.setdefault(placeholders, set()).update(route.methods or ())
    return sorted(found[min(found)]) if found else []


async def _unknown(request: Request, error: Exception) -> JSONResponse:
    """Answer a bug; its text stays in the log, under the same request id."""
    logger.error("request %s failed", request_id(request), exc_info=error)
    return envelope(
        request,
        500,
        MemoryServerError.code,
        f"internal error; the server's log has the reason under request id {request_id(request)}",
        headers={"X-Request-ID": request_id(request)},
    )
