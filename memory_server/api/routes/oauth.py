"""Tokens for service accounts."""

import base64
import binascii
import math
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote_plus

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from memory_server.api.dependencies import address_of
from memory_server.api.errors import envelope
from memory_server.api.schemas.accounts import Token
from memory_server.api.serving import services
from memory_server.errors import InvalidRequest, NotAuthenticated, RateLimited
from memory_server.services.tokens import TOKEN_LIFETIME

router = APIRouter(prefix="/oauth", tags=["tokens"])

GRANT = "client_credentials"

_FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/x-www-form-urlencoded": {
                "schema": {
                    "type": "object",
                    "required": ["grant_type"],
                    "properties": {
                        "grant_type": {"type": "string", "enum": [GRANT]},
                        "client_id": {"type": "string"},
                        "client_secret": {"type": "string"},
                    },
                }
            }
        },
    }
}


@router.post("/token", response_model=Token, openapi_extra=_FORM)
async def issue_token(request: Request) -> JSONResponse:
    """Exchange client credentials, given by Basic authentication or in the form, for a token."""
    form = dict(parse_qsl((await request.body()).decode("utf-8", "replace")))
    if form.get("grant_type") != GRANT:
        return _refused(request, 400, "unsupported_grant_type", f"grant_type has to be {GRANT}")
    client_id, client_secret = _credentials(request.headers, form)
    if not client_id or not client_secret:
        return _refused(request, 401, "invalid_client", "give a client_id and a client_secret")
    try:
        token = await services(request).service_accounts.issue_token(
            client_id, client_secret, address=address_of(request)
        )
    except NotAuthenticated as error:
        return _refused(request, 401, "invalid_client", str(error))
    except RateLimited as error:
        wait = {"Retry-After": str(math.ceil(error.details["retry_after"]))}
        return _refused(request, 429, "slow_down", str(error), wait)
    answer = Token(access_token=token, expires_in=int(TOKEN_LIFETIME.total_seconds()))
    return JSONResponse(answer.model_dump(), headers={"Cache-Control": "no-store"})


def _credentials(headers: Mapping[str, str], form: Mapping[str, str]) -> tuple[str, str]:
    scheme, _, encoded = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return form.get("client_id", ""), form.get("client_secret", "")
    try:
        plain = base64.b64decode(encoded.strip(), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return "", ""
    client_id, _, client_secret = plain.partition(":")
    return unquote_plus(client_id), unquote_plus(client_secret)


_CODES = {401: NotAuthenticated.code, 429: RateLimited.code}


def _refused(
    request: Request,
    status: int,
    name: str,
    reason: str,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Return the error that OAuth clients know, in the envelope that all others know."""
    code = _CODES.get(status, InvalidRequest.code)
    challenge = {"WWW-Authenticate": "Basic"} if status == 401 else {}
    return envelope(
        request,
        status,
        code,
        reason,
        headers=challenge | dict(headers or {}),
        error=name,
        error_description=reason,
    )
