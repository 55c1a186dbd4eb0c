"""Who may do what, and whose memory they may name: decisions only, nothing is looked up here."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from memory_server.domain.account import AccountRole, Principal, PrincipalKind
from memory_server.domain.execution import Execution, MemoryIdentity
from memory_server.domain.project import Project
from memory_server.domain.scope import Visibility
from memory_server.errors import (
    Forbidden,
    IdentityMissing,
    IdentityRefused,
    InvalidRequest,
    NotAuthenticated,
)


class Right(StrEnum):
    """What a route asks of its caller."""

    READ_MEMORY = "reading memory"
    WRITE_MEMORY = "writing memory"
    REVIEW = "reviewing what is proposed to be remembered"
    ADMINISTER = "administering a project"
    KEEP_CREDENTIALS = "managing service accounts, members, secrets and the project itself"
    KEEP_ORGANIZATION = "managing the organization's service accounts"
    SEE_PROJECTS = "seeing projects"
    CREATE_PROJECTS = "creating projects"
    COPY_STORE = "copying the whole store"


_PROJECT_ROLES = frozenset(role for role in AccountRole if not role.is_of_organization)
_ROLES: Mapping[Right, frozenset[AccountRole]] = {
    Right.READ_MEMORY: _PROJECT_ROLES,
    Right.WRITE_MEMORY: frozenset((AccountRole.PROJECT_OWNER, AccountRole.AGENT_DEVELOPER)),
    Right.REVIEW: frozenset((AccountRole.PROJECT_OWNER,)),
    Right.ADMINISTER: frozenset((AccountRole.PROJECT_OWNER,)),
    Right.KEEP_CREDENTIALS: frozenset((AccountRole.PROJECT_OWNER,)),
    Right.KEEP_ORGANIZATION: frozenset(),
    Right.SEE_PROJECTS: frozenset(AccountRole),
    Right.CREATE_PROJECTS: frozenset((AccountRole.ORG_GROUP_CREATOR,)),
    Right.COPY_STORE: frozenset(),
}
"""The roles that have each right; whoever holds the owner token has all."""

_OF_THEIR_OWN: Mapping[Right, frozenset[AccountRole]] = {
    Right.REVIEW: frozenset((AccountRole.AGENT_DEVELOPER,)),
}
"""The roles by which people, no programs, have a right to what is theirs."""

_MEMORY = (Right.READ_MEMORY, Right.WRITE_MEMORY)
_ONLY_PEOPLE = (Right.KEEP_CREDENTIALS,)
"""Rights that no role gives to a program."""


def check_right(principal: Principal, right: Right) -> None:
    """Return if the caller has a right; raises `NotAuthenticated` for the anonymous, `Forbidden`.

    That a role is one in the project at hand is for whoever looked the caller up.
    """
    match principal.kind:
        case PrincipalKind.OWNER:
            return
        case PrincipalKind.ANONYMOUS if right in _MEMORY:
            return
        case PrincipalKind.EXECUTION if right in _MEMORY:
            if principal.on_behalf_of is not None:
                check_right(principal.on_behalf_of, right)
            return
        case PrincipalKind.ANONYMOUS:
            raise NotAuthenticated(
                f"{right.value} needs a bearer token in the Authorization header: the owner "
                f"token{_holders(right)}"
            )
        case PrincipalKind.SERVICE_ACCOUNT if right in _ONLY_PEOPLE:
            raise Forbidden(
                f"{right.value} needs the owner token{_holders(right)}; a service account's "
                "token does not open it"
            )
    if principal.role not in _roles_for(principal, right):
        raise Forbidden(f"{right.value} needs {_needed(right)}; this caller has {_had(principal)}")


def _roles_for(principal: Principal, right: Right) -> frozenset[AccountRole]:
    """Return the roles that give such a caller a right, to everything or to what is theirs."""
    is_person = principal.kind is PrincipalKind.PERSON
    own = _OF_THEIR_OWN.get(right, frozenset()) if is_person else frozenset()
    return _ROLES[right] | own


def has_right(principal: Principal, right: Right) -> bool:
    """Whether the caller has a right."""
    try:
        check_right(principal, right)
    except Forbidden:
        return False
    return True


def _needed(right: Right) -> str:
    roles = " or ".join(role.value for role in AccountRole if role in _ROLES[right])
    if right in _MEMORY:
        return f"the role {roles}"
    return f"the owner token or the role {roles}" if roles else "the owner token"


def _holders(right: Right) -> str:
    if _ROLES[right] == frozenset(AccountRole):
        return " or any other of this server"
    roles = " or ".join(role.value for role in AccountRole if role in _ROLES[right])
    return f" or that of somebody with the role {roles}" if roles else ""


def _had(principal: Principal) -> str:
    return principal.role.value if principal.role else f"none ({principal.kind.value})"


class Action(StrEnum):
    """What a call does with memory."""

    READ = "read"
    SAVE = "save"
    CHANGE = "change"
    DELETE = "delete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """Whom a call names, in its body or its query. What it leaves to a default it does not name."""

    action: Action
    user_id: str | None = None
    visibility: Visibility | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """On what ground the caller stands."""

    principal: Principal
    enforces: bool = False
    """Whether the project enforces identity."""
    inside: bool = False
    """Whether the call comes from inside an execution."""
    execution_user: str | None = None
    """Whose execution it is, if that is known here."""

    @property
    def identity(self) -> str | None:
        """Whose memory is the caller's own; None: a caller without an identity."""
        if self.execution_user is not None:
            return self.execution_user
        return self.principal.id if self.principal.kind in _WITH_IDENTITY else None


_WITH_IDENTITY = (PrincipalKind.PERSON, PrincipalKind.SERVICE_ACCOUNT, PrincipalKind.EXECUTION)
_WIDE = (Visibility.ORG, Visibility.SHARED)


def user_meant(standing: Standing, named: Named) -> str | None:
    """Return whose memory a call is about; None: anybody's, as far as its visibility reaches.

    Raises `IdentityMissing` or `IdentityRefused`, naming the field, and `NotAuthenticated`.
    """
    user_id = named.user_id
    if standing.inside:
        user_id = _inside(standing.identity, named)
    if standing.enforces:
        check_enforced(standing.principal)
        person = _person(standing.principal)
        if person is not None:
            return _of_person(person, named, user_id)
    return user_id


def check_decides(standing: Standing) -> None:
    """Refuse calls from inside an execution: an agent does not decide on what it was told."""
    if standing.inside:
        raise Forbidden(
            "what is proposed is not reviewed from inside an execution: leave the execution header "
            "out, and call as whoever decides"
        )


def user_reviewed(principal: Principal, named: str | None) -> str | None:
    """Return whose proposals a caller who may review sees and decides; None: everybody's.

    Raises `IdentityRefused` for a person who names another and does not own the project.
    """
    if has_right(principal, Right.ADMINISTER):
        return named
    if named not in (None, principal.id):
        raise IdentityRefused(
            f"user_id: {principal.id!r} reviews only what is proposed of themselves; what is "
            "proposed of others needs the owner token or the role PROJECT_OWNER"
        )
    return principal.id


def _person(principal: Principal) -> Principal | None:
    """Return the person who calls, or for whom an agent does: it deletes nobody else's memory."""
    found = principal.on_behalf_of or principal
    if found.kind is not PrincipalKind.PERSON:
        return None
    return found if found is principal else replace(found, role=None)


def check_enforced(principal: Principal) -> None:
    """Refuse callers of whom nothing is known; a project that enforces identity has none."""
    if (principal.on_behalf_of or principal).kind is PrincipalKind.ANONYMOUS:
        raise NotAuthenticated(
            "this project enforces identity: every call needs a bearer token in the "
            "Authorization header"
        )


def _inside(identity: str | None, named: Named) -> str | None:
    """Decide for a call from inside an execution, which is made for somebody.

    A caller without an identity is whoever is named.
    """
    user_id, visibility = named.user_id, named.visibility
    if named.action is Action.CHANGE and user_id is None and identity is not None:
        return identity
    if user_id is None and visibility is None:
        raise IdentityMissing(
            "user_id, visibility: inside an execution a call names one of the two: a user_id for "
            "the memory of that user, or a visibility (org, shared) for what all may see"
        )
    if visibility in _WIDE:
        return user_id
    if user_id is None:
        raise IdentityRefused("user_id: visibility private needs the user it is private to")
    if identity is not None and user_id != identity:
        raise IdentityRefused(
            f"user_id: inside an execution of {identity!r} the memory of another user is only "
            "reached with visibility org or shared"
        )
    return user_id


def _of_person(principal: Principal, named: Named, user_id: str | None) -> str | None:
    """Decide for a person in a project that enforces identity: their own memory, and no other."""
    may_delete_all = named.action is Action.DELETE and principal.role is AccountRole.PROJECT_OWNER
    if may_delete_all or user_id == principal.id:
        return user_id
    if user_id is not None:
        raise IdentityRefused(
            f"user_id: this project enforces identity, and {principal.id!r} may name only "
            "themselves as user_id"
        )
    if named.action is Action.READ and named.visibility in _WIDE:
        return None
    return principal.id


def memory_identity(
    principal: Principal, supplied: str | None, project: Project, *, needed: bool = True
) -> MemoryIdentity:
    """Return whose memory an invocation uses; `supplied` is the user whom the caller names.

    A service account is itself the identity, unless its project allows delegation. `needed`:
    whether somebody must be named at all; an agent without memory serves anybody. Raises
    `InvalidRequest` or `IdentityRefused`, naming the field.
    """
    if principal.kind is PrincipalKind.SERVICE_ACCOUNT:
        names_another = supplied not in (None, principal.id)
        if supplied is not None and names_another and project.allow_delegation:
            return _identity(principal, supplied, delegated=True)
        return _identity(principal, principal.id, overridden=names_another)
    if principal.kind in (PrincipalKind.PERSON, PrincipalKind.EXECUTION):
        if supplied is None or supplied == principal.id:
            return _identity(principal, principal.id)
        if project.enforce_identity or principal.kind is PrincipalKind.EXECUTION:
            raise IdentityRefused(f"user_id: {principal.id!r} may only name themselves here")
        return _identity(principal, supplied)
    if supplied is None and needed:
        raise InvalidRequest(
            "user_id: give the user whose memory is meant, or invoke with a service account"
        )
    return _identity(principal, supplied or principal.id)


def _identity(principal: Principal, user_id: str, **more: bool) -> MemoryIdentity:
    # What an agent invokes in its turn is invoked by whoever invoked it.
    invoker = principal.on_behalf_of or principal
    return MemoryIdentity(kind=invoker.kind, invoker=invoker.id, user_id=user_id, **more)


def may_see_execution(principal: Principal, execution: Execution) -> bool:
    """Whether an execution is the caller's own, or they own the project."""
    if principal.kind is PrincipalKind.OWNER or principal.role is AccountRole.PROJECT_OWNER:
        return True
    invoker, identity = principal.on_behalf_of or principal, execution.identity
    return (invoker.kind, invoker.id) == (identity.kind, identity.invoker)


def may_see_project(principal: Principal, project_id: str) -> bool:
    """Whether it is the caller's own project, or they may see all."""
    return principal.project_id in (None, project_id)


def check_project(principal: Principal, project_id: str) -> None:
    """Raise `Forbidden` for a caller who may not see a project."""
    if not may_see_project(principal, project_id):
        raise Forbidden(f"the caller belongs to project {principal.project_id!r}")
