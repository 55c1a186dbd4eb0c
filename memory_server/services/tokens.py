"""Bearer tokens that this server signs: what they say and how long."""

import hmac
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt

from memory_server.domain.account import PrincipalKind
from memory_server.errors import NotAuthenticated, TokenExpired
from memory_server.ports.clock import Clock

TOKEN_LIFETIME = timedelta(hours=1)

_ALGORITHM = "HS256"
_ISSUER = "agentengine-memory"
_REQUIRED = ["exp", "sub"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What a token says. Whether that still holds is for others to find out."""

    kind: PrincipalKind
    """A person or a service account."""
    subject: str
    """The client id of a service account, the user id of a person."""
    project_id: str | None
    """None: a service account of the organization."""
    login_id: str | None = None
    """The login that a person's token belongs to."""


class Tokens:
    """Signs and reads tokens with a key that is derived from the owner token."""

    def __init__(self, *, clock: Clock, owner_token: str) -> None:
        self._clock = clock
        # Derived, so that tokens survive a restart and end when the owner token is replaced.
        self._key = hmac.digest(owner_token.encode(), b"service account tokens", "sha256")

    def issue(self, claims: Claims) -> str:
        """Return a token that is good for an hour."""
        now = self._clock.now()
        content = {
            "iss": _ISSUER,
            "knd": claims.kind.value,
            "sub": claims.subject,
            "prj": claims.project_id,
            "lgn": claims.login_id,
            "iat": int(now.timestamp()),
            "exp": int((now + TOKEN_LIFETIME).timestamp()),
        }
        return jwt.encode(content, self._key, algorithm=_ALGORITHM)

    def read(self, bearer: str) -> Claims:
        """Return what a token says if it was signed here and is not over.

        Raises `TokenExpired`, or `NotAuthenticated` for what is no token of this server.
        """
        content = self._verified(bearer)
        if self._clock.now() >= datetime.fromtimestamp(content["exp"], UTC):
            raise TokenExpired("the bearer token has expired; ask for a new one")
        return Claims(
            kind=PrincipalKind(content.get("knd", PrincipalKind.SERVICE_ACCOUNT.value)),
            subject=content["sub"],
            project_id=content.get("prj"),
            login_id=content.get("lgn"),
        )

    def _verified(self, bearer: str) -> dict[str, Any]:
        # Expiry is checked against the clock port by the caller.
        options: Any = {"require": _REQUIRED, "verify_exp": False, "verify_iat": False}
        try:
            return jwt.decode(
                bearer, self._key, algorithms=[_ALGORITHM], issuer=_ISSUER, options=options
            )
        except jwt.InvalidTokenError:
            raise NotAuthenticated("the bearer token is not valid") from None
