"""From a request to who is calling and what they may touch."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Protocol, TypeVar, cast

from fastapi import Request

from memory_server.domain.account import AccountRole, Principal, PrincipalKind
from memory_server.domain.scope import Scope, Visibility
from memory_server.errors import (
    Forbidden,
    IdentityMissing,
    IdentityRefused,
    NotAuthenticated,
    ProjectNotFound,
)
from memory_server.services.administration import Administration
from memory_server.services.context import ContextBuilding
from memory_server.services.custom_types import CustomTypes
from memory_server.services.identity import Identity, caller_address
from memory_server.services.invocation import Invocation
from memory_server.services.memories import MemoryKeeping
from memory_server.services.promotion import Promotion
from memory_server.services.readiness import ReadinessOfServer
from memory_server.services.search import Retrieval
from memory_server.services.turns import TurnRecording
from memory_server.settings import Settings

AGENT_HEADERS = ("x-agent-engine-agent-id", "x-agentic-agent-id")
"""The newer spelling first; clients send both."""
EXECUTION_HEADERS = ("x-agent-engine-execution-id", "x-agentic-execution-id")

SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))
WITH_IDENTITY = (PrincipalKind.PERSON, PrincipalKind.SERVICE_ACCOUNT, PrincipalKind.EXECUTION)
"""Callers who are somebody, and so own what they write."""
MAY_WRITE = (AccountRole.PROJECT_OWNER, AccountRole.AGENT_DEVELOPER)

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
_only_read: set[Callable[..., Any]] = set()

_ANONYMOUS = Principal(kind=PrincipalKind.ANONYMOUS, id=PrincipalKind.ANONYMOUS.value)


class Services(Protocol):
    """What the routes call; the composition root's application has them all."""

    @property
    def settings(self) -> Settings: ...
    @property
    def recording(self) -> TurnRecording: ...
    @property
    def keeping(self) -> MemoryKeeping: ...
    @property
    def retrieval(self) -> Retrieval: ...
    @property
    def custom_types(self) -> CustomTypes: ...
    @property
    def context(self) -> ContextBuilding: ...
    @property
    def promotion(self) -> Promotion: ...
    @property
    def identity(self) -> Identity: ...
    @property
    def invocation(self) -> Invocation: ...
    @property
    def administration(self) -> Administration: ...
    @property
    def readiness(self) -> ReadinessOfServer: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who is calling, for which project, and what their headers say."""

    principal: Principal
    project_id: str
    org_id: str
    agent_id: str | None = None
    execution_id: str | None = None

    def scope(
        self,
        *,
        user_id: str | None,
        visibility: Visibility | None = None,
        session_id: str | None = None,
        agent_id: str | None = None,
    ) -> Scope:
        """Return the scope of a call, checked against the policy of executions."""
        self._check_execution(user_id, visibility)
        return Scope(
            project_id=self.project_id,
            user_id=user_id,
            visibility=visibility,
            session_id=session_id,
            agent_id=agent_id,
        )

    def owner(
        self,
        *,
        user_id: str | None,
        visibility: Visibility | None = None,
        session_id: str | None = None,
        agent_id: str | None = None,
    ) -> Scope:
        """Return the scope of a write: its owner, and the headers' agent if it names none."""
        self._check_execution(user_id, visibility)
        return Scope(
            project_id=self.project_id,
            user_id=user_id,
            session_id=session_id,
            agent_id=agent_id or self.agent_id,
        )

    def own(self) -> Scope:
        """Return the scope of what no body names an owner of: it is the caller's own.

        A caller without an identity of theirs has what belongs to nobody. Raises
        `IdentityMissing` inside an execution whose user is not known.
        """
        user_id = self._identity()
        if user_id is None and self.execution_id is not None:
            raise IdentityMissing(
                "the execution is not known here, so whose records are meant is not either: call "
                "with a token of their owner, or leave the execution header out"
            )
        return Scope(project_id=self.project_id, user_id=user_id, userless=user_id is None)

    def stamp(self) -> Scope:
        """Return the owner of what the caller writes under their own identity."""
        return replace(self.own(), agent_id=self.agent_id)

    def _identity(self) -> str | None:
        return self.principal.id if self.principal.kind in WITH_IDENTITY else None

    def _check_execution(self, user_id: str | None, visibility: Visibility | None) -> None:
        """Inside an execution, memory is used for somebody: a user, or everybody by visibility."""
        if self.execution_id is None:
            return
        if user_id is None and visibility is None:
            raise IdentityMissing(
                "inside an execution a call names a user_id or a visibility; this one has neither"
            )
        if visibility not in (None, Visibility.PRIVATE):
            return
        if user_id is None:
            raise IdentityRefused("user_id: visibility private needs the user it is private to")
        if self.principal.kind is PrincipalKind.SERVICE_ACCOUNT and user_id != self.principal.id:
            raise IdentityRefused(
                "user_id: inside an execution a service account may only use its own private memory"
            )


def reads(endpoint: Endpoint) -> Endpoint:
    """Say of a POST route that it only reads: a question that is too long for an address.

    What is not said to read writes, so that a route nobody thought about is closed to readers.
    """
    _only_read.add(endpoint)
    return endpoint


def services(request: Request) -> Services:
    """Return the application's services."""
    return cast(Services, request.app.state.services)


def is_only_reading(method: str, endpoint: Callable[..., Any] | None) -> bool:
    """Whether a route changes nothing: by its method, or because it is said of it."""
    return method in SAFE_METHODS or endpoint in _only_read


async def caller(request: Request) -> Caller:
    """Return who calls a memory route.

    On project routes a bearer token is needed, and the project must be one of this server's.
    Elsewhere none is needed, but a token that is presented must be good. The project never
    comes from a body. A service account that may only read is refused on routes that write.
    """
    settings = services(request).settings
    named = request.path_params.get("project_id")
    principal = await _principal(request, project_id=named or settings.project_id)
    if named is not None:
        _check_project(named, settings.project_id, principal)
    _check_role(request, principal)
    return Caller(
        principal=principal,
        project_id=settings.project_id,
        org_id=settings.org_id,
        agent_id=_header(request, AGENT_HEADERS),
        execution_id=_header(request, EXECUTION_HEADERS),
    )


async def owner(request: Request) -> Caller:
    """Return the caller of an administrative route, which only the owner token opens."""
    found = await caller(request)
    if found.principal.kind is PrincipalKind.ANONYMOUS:
        raise NotAuthenticated("this route needs the owner token as a bearer token")
    if found.principal.kind is not PrincipalKind.OWNER:
        raise Forbidden("this route needs the owner token; a service account's does not open it")
    return found


def bearer_of(headers: Mapping[str, str]) -> str | None:
    """Return the bearer token of a request, or None; another scheme is refused."""
    given = headers.get("authorization", "").strip()
    if not given:
        return None
    scheme, _, token = given.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise NotAuthenticated("the Authorization header has to be: Bearer <token>")
    return token.strip()


async def _principal(request: Request, *, project_id: str) -> Principal:
    token = bearer_of(request.headers)
    address = request.client.host if request.client else None
    if token is None:
        if not (_is_near(address) and _is_local_name(request.headers.get("host", ""))):
            raise NotAuthenticated(
                "callers from outside this machine need a bearer token in the Authorization header"
            )
        return _ANONYMOUS
    return await services(request).identity.authenticate(
        token, project_id=project_id, address=address
    )


@lru_cache(maxsize=256)
def _is_near(address: str | None) -> bool:
    """Whether a caller is on this machine; a transport without addresses is."""
    found = caller_address(address)
    return found is None or found.is_loopback


@lru_cache(maxsize=256)
def _is_local_name(host: str) -> bool:
    """Whether a request was meant for this machine.

    A page of another site can have its own name resolved to the loopback address and would
    then be a caller from here; its requests still carry that name.
    """
    name = (
        host.removeprefix("[").partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    )
    address = caller_address(name)
    if address is not None:
        return address.is_loopback
    return "." not in name or name.endswith(".localhost")


def _check_project(named: str, held: str, principal: Principal) -> None:
    if principal.kind is PrincipalKind.ANONYMOUS:
        raise NotAuthenticated("project routes need a bearer token; the flat routes need none")
    if named != held:
        raise ProjectNotFound(f"this server holds project {held!r}, not {named!r}")


def _check_role(request: Request, principal: Principal) -> None:
    """Refuse writing to accounts that may only read; other callers have no role."""
    if principal.role is None or principal.role in MAY_WRITE:
        return
    if is_only_reading(request.method, request.scope.get("endpoint")):
        return
    raise Forbidden(
        f"writing needs a service account with the role {' or '.join(MAY_WRITE)}; this one has "
        f"{principal.role.value}"
    )


def _header(request: Request, names: tuple[str, ...]) -> str | None:
    values = (request.headers.get(name, "").strip() for name in names)
    return next((value for value in values if value), None)
