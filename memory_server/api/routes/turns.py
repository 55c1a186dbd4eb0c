"""Recording turns: the route that is called most."""

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from memory_server.api.dependencies import caller
from memory_server.api.schemas.turns import TurnBody, TurnReceipt
from memory_server.api.serving import services
from memory_server.errors import InvalidRequest

router = APIRouter(tags=["turns"])


def _schema() -> dict[str, Any]:
    """Return the schema of a turn in one piece, as a description of one route needs it."""
    schema = TurnBody.model_json_schema()
    shared = schema.pop("$defs")
    for name, field in schema["properties"].items():
        if "$ref" in field:
            schema["properties"][name] = shared[field["$ref"].rpartition("/")[2]]
    return schema


_BODY: dict[str, Any] = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": _schema()}}}
}


@router.post("/turns", status_code=201, response_model=TurnReceipt, openapi_extra=_BODY)
@router.post("/stm/turns", status_code=201, response_model=TurnReceipt, openapi_extra=_BODY)
async def record_turn(request: Request) -> Response:
    """Record one turn durably, numbered within its session."""
    # No dependencies and no second look at the answer: every agent waits for this route.
    found = await caller(request)
    # A page of another site can only post to a local server without asking as plain text.
    if not _is_json(request.headers.get("content-type", "")):
        raise InvalidRequest("send the turn as JSON, with Content-Type: application/json")
    body = _parsed(await request.body())
    scope = found.owner(user_id=body.user_id, agent_id=body.agent_id)
    recorded = await services(request).recording.record(scope, body.turn())
    return Response(
        TurnReceipt.of(recorded).model_dump_json(), status_code=201, media_type="application/json"
    )


def _is_json(content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return kind == "application/json" or (
        kind.startswith("application/") and kind.endswith("+json")
    )


def _parsed(body: bytes) -> TurnBody:
    try:
        return TurnBody.model_validate_json(body)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False, include_context=False)
        raise RequestValidationError(
            [{**problem, "loc": ("body", *problem["loc"])} for problem in problems]
        ) from None
