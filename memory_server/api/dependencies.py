"""From a request to who is calling and what they may touch."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request, Response

from memory_server.api.caller import Caller
from memory_server.api.nearness import is_near
from memory_server.api.serving import Services, deployment, services
from memory_server.domain.account import Principal, PrincipalKind
from memory_server.domain.policy import Right, check_decides, check_enforced, check_right
from memory_server.errors import InvalidRequest, NotAuthenticated, OrganizationNotFound
from memory_server.services.deployment import Deployment
from memory_server.services.executions import ExecutionKeeping

AGENT_HEADERS = ("x-agent-engine-agent-id", "x-agentic-agent-id")
"""The newer spelling first; clients send both."""
EXECUTION_HEADERS = ("x-agent-engine-execution-id", "x-agentic-execution-id")

_ONCE = frozenset(("authorization", "host", *AGENT_HEADERS, *EXECUTION_HEADERS))

SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))
Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
_only_read: set[Callable[..., Any]] = set()

_ANONYMOUS = Principal(kind=PrincipalKind.ANONYMOUS, id=PrincipalKind.ANONYMOUS.value)


def reads(endpoint: Endpoint) -> Endpoint:
    """Say of a POST route that it only reads: a question that is too long for an address.

    What is not said to read writes, so that a route nobody thought about is closed to readers.
    """
    _only_read.add(endpoint)
    return endpoint


def is_only_reading(method: str, endpoint: Callable[..., Any] | None) -> bool:
    """Whether a route changes nothing: by its method, or because it is said of it."""
    return method in SAFE_METHODS or endpoint in _only_read


async def caller(request: Request) -> Caller:
    """Return who calls a memory route.

    On project routes a bearer token is needed, and the project must be one of this server's.
    Elsewhere none is needed, but a token that is presented must be good. The project never
    comes from a body. Whoever may only read is refused on routes that write.
    """
    reading = is_only_reading(request.method, request.scope.get("endpoint"))
    return await _admitted(request, Right.READ_MEMORY if reading else Right.WRITE_MEMORY)


async def owner(request: Request) -> Caller:
    """Return the caller of an administrative route: an owner of the server or of the project."""
    return await _admitted(request, Right.ADMINISTER)


async def reviewer(request: Request) -> Caller:
    """Return who decides what is remembered: an owner, or a person of what is their own."""
    found = await _admitted(request, Right.REVIEW)
    check_decides(found.standing)
    return found


async def keyholder(request: Request) -> Caller:
    """Return the caller of a route that gives or takes credentials: an owner, and no program."""
    return await _admitted(request, Right.KEEP_CREDENTIALS)


async def visitor(request: Request) -> Principal:
    """Return who calls a route that is of no project: whoever has a token that is good."""
    return await _of_no_project(request, Right.SEE_PROJECTS)


async def founder(request: Request) -> Principal:
    """Return the caller of the route that makes projects."""
    return await _of_no_project(request, Right.CREATE_PROJECTS)


async def store_owner(request: Request) -> Principal:
    """Return the caller of a route that gives away the whole store, with all its projects."""
    return await _of_no_project(request, Right.COPY_STORE)


async def organization(request: Request) -> str:
    """Return the organization whose credentials the caller manages; the owner token opens it."""
    await _of_no_project(request, Right.KEEP_ORGANIZATION)
    named, held = request.path_params["org_id"], services(request).settings.org_id
    if named != held:
        raise OrganizationNotFound(f"this server belongs to organization {held!r}, not {named!r}")
    return held


def is_operator(request: Request) -> bool:
    """Tell whether a caller may know of the machine: a program of it, or the owner token's holder.

    A token that is not good is no reason to refuse a route that is open to everybody.
    """
    if is_near(request):
        return True
    _, _, token = request.headers.get("authorization", "").strip().partition(" ")
    return services(request).identity.is_owner(token.strip())


async def _of_no_project(request: Request, right: Right) -> Principal:
    principal = await _principal(request, project_id=None)
    check_right(principal, right)
    return principal


async def _admitted(request: Request, right: Right) -> Caller:
    """Let a caller in who has a right in the project of the route, or raise why not."""
    found = services(request)
    named = request.path_params.get("project_id")
    project_id = named or found.settings.project_id
    principal = await _principal(request, project_id=project_id)
    if named is not None and principal.kind is PrincipalKind.ANONYMOUS:
        raise NotAuthenticated("project routes need a bearer token; the flat routes need none")
    check_right(principal, right)
    project = await found.projects.get(project_id)
    if project.enforce_identity:
        check_enforced(principal)
    execution_id = _header(request, EXECUTION_HEADERS)
    return Caller(
        principal=principal,
        project=project,
        org_id=found.settings.org_id,
        agent_id=_header(request, AGENT_HEADERS),
        execution_id=execution_id,
        execution_user=await _user_of(found.executions, execution_id, project_id),
    )


async def _user_of(
    executions: ExecutionKeeping, execution_id: str | None, project_id: str
) -> str | None:
    """Return whose execution it is; None for one that is unknown, or another project's."""
    found = await executions.find(execution_id) if execution_id is not None else None
    return found.user_id if found is not None and found.project_id == project_id else None


def bearer_of(headers: Mapping[str, str]) -> str | None:
    """Return the bearer token of a request, or None; another scheme is refused."""
    given = headers.get("authorization", "").strip()
    if not given:
        return None
    scheme, _, token = given.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise NotAuthenticated("the Authorization header has to be: Bearer <token>")
    return token.strip()


def address_of(request: Request) -> str | None:
    """Return the address a request comes from."""
    return request.client.host if request.client else None


def _check_asked_once(request: Request) -> None:
    """Refuse a query that says something twice: one of the two would hold and the other not."""
    if not request.scope["query_string"]:
        return
    times = Counter(name for name, _ in request.query_params.multi_items())
    twice = sorted(name for name, count in times.items() if count > 1)
    if twice:
        raise InvalidRequest(f"{', '.join(twice)}: given more than once in the query; once is all")


def _check_said_once(request: Request) -> None:
    """Refuse headers that say twice who calls: two readers of them could take one each."""
    times = Counter(name for name in request.headers if name in _ONCE)
    twice = sorted(name for name, count in times.items() if count > 1)
    if twice:
        raise InvalidRequest(f"{', '.join(twice)}: a header that is sent more than once")


async def _principal(request: Request, *, project_id: str | None) -> Principal:
    _check_asked_once(request)
    _check_said_once(request)
    token = bearer_of(request.headers)
    found = services(request)
    if token is None:
        if found.settings.trusted_proxies or not is_near(request):
            raise NotAuthenticated(
                "callers from outside this machine need a bearer token in the Authorization header"
            )
        return _ANONYMOUS
    return await found.identity.authenticate(
        token, project_id=project_id, address=address_of(request)
    )


def _header(request: Request, names: tuple[str, ...]) -> str | None:
    values = (request.headers.get(name, "").strip() for name in names)
    return next((value for value in values if value), None)


CallerOfRoute = Annotated[Caller, Depends(caller)]
Owner = Annotated[Caller, Depends(owner)]
Reviewer = Annotated[Caller, Depends(reviewer)]
Keyholder = Annotated[Caller, Depends(keyholder)]
Visitor = Annotated[Principal, Depends(visitor)]
Founder = Annotated[Principal, Depends(founder)]
StoreOwner = Annotated[Principal, Depends(store_owner)]
Organization = Annotated[str, Depends(organization)]
ServicesOfApp = Annotated[Services, Depends(services)]
DeploymentOfApp = Annotated[Deployment[Any], Depends(deployment)]


async def _not_kept(response: Response) -> None:
    response.headers["Cache-Control"] = "no-store"


NOT_KEPT = Depends(_not_kept)
"""For a route that tells a secret: nobody on the way is to keep the answer."""
