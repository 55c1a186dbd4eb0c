"""The two decision tables: who has which right, and whom a call may name."""

import itertools
from dataclasses import replace

import pytest

from memory_server.domain.account import AccountRole, Principal, PrincipalKind
from memory_server.domain.execution import Execution, ExecutionStatus, MemoryIdentity
from memory_server.domain.policy import (
    Action,
    Named,
    Right,
    Standing,
    check_project,
    check_right,
    may_see_execution,
    user_meant,
    user_reviewed,
)
from memory_server.domain.scope import Visibility
from memory_server.errors import (
    Forbidden,
    IdentityMissing,
    IdentityRefused,
    MemoryServerError,
    NotAuthenticated,
)
from tests.clock import START

PRIVATE, ORG, SHARED = Visibility.PRIVATE, Visibility.ORG, Visibility.SHARED
READ, SAVE, CHANGE, DELETE = Action.READ, Action.SAVE, Action.CHANGE, Action.DELETE
MEMORY = {Right.READ_MEMORY, Right.WRITE_MEMORY}

PROJECT_ROLES = [role for role in AccountRole if not role.is_of_organization]

ANONYMOUS = Principal(kind=PrincipalKind.ANONYMOUS, id="anonymous")
OWNER = Principal(kind=PrincipalKind.OWNER, id="owner")
AGENT = Principal(kind=PrincipalKind.EXECUTION, id="ana", project_id="shop")


def a_person(role: AccountRole = AccountRole.AGENT_DEVELOPER) -> Principal:
    return Principal(kind=PrincipalKind.PERSON, id="ana", project_id="shop", role=role)


def an_account(role: AccountRole = AccountRole.AGENT_DEVELOPER) -> Principal:
    return Principal(kind=PrincipalKind.SERVICE_ACCOUNT, id="bot", project_id="shop", role=role)


RIGHTS = [
    (OWNER, set(Right)),
    (ANONYMOUS, MEMORY),
    (AGENT, MEMORY),
    (
        a_person(AccountRole.PROJECT_OWNER),
        MEMORY | {Right.REVIEW, Right.ADMINISTER, Right.KEEP_CREDENTIALS, Right.SEE_PROJECTS},
    ),
    (a_person(AccountRole.AGENT_DEVELOPER), MEMORY | {Right.REVIEW, Right.SEE_PROJECTS}),
    (a_person(AccountRole.PROJECT_READ_ONLY), {Right.READ_MEMORY, Right.SEE_PROJECTS}),
    (
        an_account(AccountRole.PROJECT_OWNER),
        MEMORY | {Right.REVIEW, Right.ADMINISTER, Right.SEE_PROJECTS},
    ),
    (an_account(AccountRole.AGENT_DEVELOPER), MEMORY | {Right.SEE_PROJECTS}),
    (an_account(AccountRole.PROJECT_READ_ONLY), {Right.READ_MEMORY, Right.SEE_PROJECTS}),
    (an_account(AccountRole.ORG_GROUP_CREATOR), {Right.SEE_PROJECTS, Right.CREATE_PROJECTS}),
    (an_account(AccountRole.ORG_READ_ONLY), {Right.SEE_PROJECTS}),
]


def has(principal: Principal, right: Right) -> bool:
    try:
        check_right(principal, right)
    except Forbidden:
        return False
    return True


@pytest.mark.parametrize(("principal", "rights"), RIGHTS)
def test_each_caller_has_these_rights_and_no_other(
    principal: Principal, rights: set[Right]
) -> None:
    assert {right for right in Right if has(principal, right)} == rights


@pytest.mark.parametrize(
    ("principal", "named", "meant"),
    [
        (OWNER, None, None),
        (OWNER, "bob", "bob"),
        (a_person(AccountRole.PROJECT_OWNER), "bob", "bob"),
        (an_account(AccountRole.PROJECT_OWNER), None, None),
        (a_person(), None, "ana"),
        (a_person(), "ana", "ana"),
    ],
)
def test_an_owner_reviews_what_is_proposed_of_all_and_a_person_what_is_of_themselves(
    principal: Principal, named: str | None, meant: str | None
) -> None:
    assert user_reviewed(principal, named) == meant


def test_a_person_who_owns_nothing_reviews_nobody_else() -> None:
    with pytest.raises(IdentityRefused, match="themselves"):
        user_reviewed(a_person(), "bob")


def test_every_role_and_kind_stands_in_the_table() -> None:
    listed = [principal for principal, _ in RIGHTS]

    assert {one.role for one in listed} == {*AccountRole, None}
    assert {one.kind for one in listed} == set(PrincipalKind)


@pytest.mark.parametrize("right", sorted(set(Right) - MEMORY))
def test_an_anonymous_caller_is_asked_for_a_token(right: Right) -> None:
    with pytest.raises(NotAuthenticated, match="owner token"):
        check_right(ANONYMOUS, right)


def outside(principal: Principal, **changes: object) -> Standing:
    return Standing(**{"principal": principal} | changes)  # type: ignore[arg-type]


def inside(principal: Principal, user: str | None = None, **changes: object) -> Standing:
    return outside(principal, inside=True, execution_user=user, **changes)


REFUSED, MISSING = IdentityRefused, IdentityMissing
Outcome = str | None | type[MemoryServerError]

WITH_IDENTITY = [
    inside(a_person()),
    inside(ANONYMOUS, "ana"),
    inside(OWNER, "ana"),
    inside(an_account(), "ana"),
    inside(AGENT, "ana"),
]
INSIDE: list[tuple[str | None, Visibility | None, Outcome]] = [
    (None, None, MISSING),
    (None, PRIVATE, REFUSED),
    (None, ORG, None),
    (None, SHARED, None),
    ("ana", None, "ana"),
    ("ana", PRIVATE, "ana"),
    ("ana", ORG, "ana"),
    ("bob", None, REFUSED),
    ("bob", PRIVATE, REFUSED),
    ("bob", ORG, "bob"),
    ("bob", SHARED, "bob"),
]


def check(standing: Standing, named: Named, outcome: Outcome) -> None:
    if isinstance(outcome, type):
        with pytest.raises(outcome, match="user_id"):
            user_meant(standing, named)
    else:
        assert user_meant(standing, named) == outcome


@pytest.mark.parametrize("standing", WITH_IDENTITY)
@pytest.mark.parametrize("action", [READ, SAVE, DELETE])
@pytest.mark.parametrize(("user_id", "visibility", "outcome"), INSIDE)
def test_inside_an_execution_of_ana(
    standing: Standing,
    action: Action,
    user_id: str | None,
    visibility: Visibility | None,
    outcome: Outcome,
) -> None:
    check(standing, Named(action=action, user_id=user_id, visibility=visibility), outcome)


@pytest.mark.parametrize("principal", [ANONYMOUS, OWNER])
@pytest.mark.parametrize(
    ("user_id", "visibility", "outcome"),
    [
        (None, None, MISSING),
        (None, PRIVATE, REFUSED),
        (None, ORG, None),
        ("bob", None, "bob"),
        ("bob", PRIVATE, "bob"),
        ("bob", ORG, "bob"),
    ],
)
def test_inside_an_unknown_execution_a_caller_without_identity_is_whoever_is_named(
    principal: Principal, user_id: str | None, visibility: Visibility | None, outcome: Outcome
) -> None:
    check(inside(principal), Named(action=READ, user_id=user_id, visibility=visibility), outcome)


@pytest.mark.parametrize(
    ("standing", "user_id", "outcome"),
    [
        (inside(a_person()), None, "ana"),
        (inside(an_account()), None, "bot"),
        (inside(an_account(), "ana"), None, "ana"),
        (inside(ANONYMOUS), None, MISSING),
        (inside(an_account(), "ana"), "bob", REFUSED),
    ],
)
def test_inside_an_execution_a_change_that_names_nobody_is_of_ones_own(
    standing: Standing, user_id: str | None, outcome: Outcome
) -> None:
    check(standing, Named(action=CHANGE, user_id=user_id), outcome)


ENFORCED: list[tuple[Action, str | None, Visibility | None, Outcome]] = [
    (READ, None, None, "ana"),
    (READ, None, PRIVATE, "ana"),
    (READ, None, ORG, None),
    (READ, None, SHARED, None),
    (READ, "ana", ORG, "ana"),
    (READ, "bob", None, REFUSED),
    (READ, "bob", ORG, REFUSED),
    (SAVE, None, None, "ana"),
    (SAVE, None, ORG, "ana"),
    (SAVE, "ana", None, "ana"),
    (SAVE, "bob", ORG, REFUSED),
    (CHANGE, None, None, "ana"),
    (CHANGE, "bob", None, REFUSED),
    (DELETE, None, None, "ana"),
    (DELETE, None, ORG, "ana"),
    (DELETE, "bob", None, REFUSED),
]


@pytest.mark.parametrize("role", [AccountRole.AGENT_DEVELOPER, AccountRole.PROJECT_OWNER])
@pytest.mark.parametrize(("action", "user_id", "visibility", "outcome"), ENFORCED)
def test_a_person_in_a_project_that_enforces_identity(
    role: AccountRole,
    action: Action,
    user_id: str | None,
    visibility: Visibility | None,
    outcome: Outcome,
) -> None:
    may_delete_all = action is DELETE and role is AccountRole.PROJECT_OWNER

    check(
        outside(a_person(role), enforces=True),
        Named(action=action, user_id=user_id, visibility=visibility),
        user_id if may_delete_all else outcome,
    )


def test_enforced_identity_holds_inside_the_execution_of_another_too() -> None:
    standing = inside(a_person(), "bob", enforces=True)

    with pytest.raises(IdentityRefused):
        user_meant(standing, Named(action=READ, user_id="bob"))


@pytest.mark.parametrize("action", Action)
def test_an_anonymous_caller_is_refused_where_identity_is_enforced(action: Action) -> None:
    with pytest.raises(NotAuthenticated):
        user_meant(outside(ANONYMOUS, enforces=True), Named(action=action, user_id="ana"))


FREE = [
    outside(ANONYMOUS),
    outside(a_person()),
    outside(an_account()),
    outside(an_account(), enforces=True),
    outside(OWNER, enforces=True),
]


@pytest.mark.parametrize("standing", FREE)
@pytest.mark.parametrize(
    ("action", "user_id", "visibility"),
    list(itertools.product(Action, [None, "ana", "bob"], [None, *Visibility])),
)
def test_all_others_name_whom_they_like(
    standing: Standing, action: Action, user_id: str | None, visibility: Visibility | None
) -> None:
    named = Named(action=action, user_id=user_id, visibility=visibility)

    assert user_meant(standing, named) == user_id


def an_agent_of(invoker: Principal) -> Principal:
    return replace(AGENT, on_behalf_of=invoker)


@pytest.mark.parametrize("right", Right)
@pytest.mark.parametrize("invoker", [a_person(role) for role in PROJECT_ROLES])
def test_an_agent_may_of_memory_what_whoever_invoked_it_may(
    invoker: Principal, right: Right
) -> None:
    assert has(an_agent_of(invoker), right) is (right in MEMORY and has(invoker, right))


@pytest.mark.parametrize("action", Action)
@pytest.mark.parametrize("visibility", [None, PRIVATE, ORG, SHARED])
def test_where_identity_is_enforced_an_agent_of_a_person_names_only_that_person(
    action: Action, visibility: Visibility | None
) -> None:
    agent = an_agent_of(a_person(AccountRole.PROJECT_OWNER))
    standing = Standing(principal=agent, enforces=True, inside=True, execution_user="ana")

    with pytest.raises(IdentityRefused):
        user_meant(standing, Named(action=action, user_id="bob", visibility=visibility))
    own = Named(action=action, user_id="ana", visibility=visibility)
    assert user_meant(standing, own) == "ana"


def test_where_identity_is_enforced_an_agent_of_a_project_owner_deletes_nobody_elses() -> None:
    agent = an_agent_of(a_person(AccountRole.PROJECT_OWNER))
    standing = Standing(principal=agent, enforces=True, inside=True, execution_user="ana")

    assert user_meant(standing, Named(action=DELETE, visibility=ORG)) == "ana"


def test_where_identity_is_enforced_since_an_agent_that_nobody_known_invoked_is_refused() -> None:
    with pytest.raises(NotAuthenticated):
        user_meant(
            Standing(principal=an_agent_of(ANONYMOUS), enforces=True, inside=True),
            Named(action=READ, user_id="ana"),
        )


def test_where_identity_is_enforced_an_agent_of_a_service_account_keeps_to_its_execution() -> None:
    agent = an_agent_of(an_account())
    standing = Standing(principal=agent, enforces=True, inside=True, execution_user="ana")

    assert user_meant(standing, Named(action=READ, user_id="bob", visibility=ORG)) == "bob"
    with pytest.raises(IdentityRefused):
        user_meant(standing, Named(action=READ, user_id="bob"))


OF_ANA = Execution(
    id="e",
    project_id="shop",
    workspace="local",
    identity=MemoryIdentity(kind=PrincipalKind.PERSON, invoker="ana", user_id="carol"),
    session_id="s",
    status=ExecutionStatus.RUNNING,
    started_at=START,
)


@pytest.mark.parametrize(
    ("principal", "sees"),
    [
        (OWNER, True),
        (a_person(), True),
        (replace(a_person(), id="eve"), False),
        (replace(a_person(AccountRole.PROJECT_OWNER), id="eve"), True),
        (replace(an_account(), id="ana"), False),
        (replace(AGENT, on_behalf_of=a_person()), True),
        (AGENT, False),
        (ANONYMOUS, False),
    ],
)
def test_an_execution_is_seen_by_who_invoked_it_and_by_owners(
    principal: Principal, sees: bool
) -> None:
    assert may_see_execution(principal, OF_ANA) is sees


def test_a_project_is_seen_by_its_own_and_by_those_of_none() -> None:
    check_project(OWNER, "bank")
    check_project(a_person(), "shop")

    with pytest.raises(Forbidden, match="'shop'"):
        check_project(a_person(), "bank")
