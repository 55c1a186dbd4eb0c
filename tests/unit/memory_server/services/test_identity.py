from dataclasses import replace
from datetime import timedelta

import pytest

from memory_server.domain.account import AccountRole, PrincipalKind
from memory_server.domain.execution import ExecutionStatus, MemoryIdentity
from memory_server.errors import Forbidden, NotAuthenticated, TokenExpired
from memory_server.ports.agent import Badge
from memory_server.ports.store import Store
from memory_server.services.executions import ExecutionKeeping
from memory_server.services.identity import Identity
from memory_server.services.members import MemberKeeping
from memory_server.services.service_accounts import IssuedSecret, NewAccount, ServiceAccounts
from memory_server.services.tokens import Claims, Tokens
from tests.clock import CountingIds, ManualClock
from tests.unit.memory_server.services.conftest import OWNER_TOKEN, token_of


async def test_owner_token_is_the_owners(identity: Identity) -> None:
    principal = await identity.authenticate(OWNER_TOKEN, project_id="p")

    assert principal.kind is PrincipalKind.OWNER


@pytest.mark.parametrize("bearer", ["", "wrong", "a.b.c", OWNER_TOKEN + " "])
async def test_other_tokens_are_refused(identity: Identity, bearer: str) -> None:
    with pytest.raises(NotAuthenticated):
        await identity.authenticate(bearer)


async def test_client_credentials_give_a_token_of_the_account(
    identity: Identity, accounts: ServiceAccounts, issued: IssuedSecret
) -> None:
    principal = await identity.authenticate(await token_of(accounts, issued), project_id="p")

    assert (principal.kind, principal.id, principal.role) == (
        PrincipalKind.SERVICE_ACCOUNT,
        issued.account.client_id,
        AccountRole.PROJECT_OWNER,
    )


async def test_token_ends_after_an_hour(
    identity: Identity, accounts: ServiceAccounts, issued: IssuedSecret, clock: ManualClock
) -> None:
    token = await token_of(accounts, issued)
    clock.advance(by=timedelta(minutes=59))
    await identity.authenticate(token)
    clock.advance(by=timedelta(minutes=1))

    with pytest.raises(TokenExpired, match="expired"):
        await identity.authenticate(token)


async def test_token_is_good_for_its_project_only(
    identity: Identity, accounts: ServiceAccounts, issued: IssuedSecret
) -> None:
    token = await token_of(accounts, issued)

    with pytest.raises(Forbidden, match="'p' and may not use 'another'"):
        await identity.authenticate(token, project_id="another")


async def test_token_of_the_organization_opens_no_project(
    identity: Identity, accounts: ServiceAccounts
) -> None:
    new = NewAccount(name="bot", role=AccountRole.ORG_GROUP_CREATOR)
    token = await token_of(accounts, await accounts.create(None, new))

    assert (await identity.authenticate(token)).role is AccountRole.ORG_GROUP_CREATOR
    with pytest.raises(Forbidden, match="organization"):
        await identity.authenticate(token, project_id="p")


async def test_deleted_account_is_refused_on_the_next_request(
    identity: Identity, accounts: ServiceAccounts, issued: IssuedSecret
) -> None:
    token = await token_of(accounts, issued)
    await accounts.delete("p", issued.account.client_id)

    with pytest.raises(NotAuthenticated):
        await identity.authenticate(token)


async def test_account_that_is_not_active_any_more_is_refused_on_the_next_request(
    identity: Identity, accounts: ServiceAccounts, issued: IssuedSecret
) -> None:
    token = await token_of(accounts, issued)
    await accounts.change("p", issued.account.client_id, is_active=False)

    with pytest.raises(NotAuthenticated):
        await identity.authenticate(token)


async def test_address_must_be_on_the_list(
    identity: Identity, accounts: ServiceAccounts, issued: IssuedSecret
) -> None:
    await accounts.set_ip_access_list("p", issued.account.client_id, ["10.0.0.0/8"])
    token = await token_of(accounts, issued)

    await identity.authenticate(token, address="10.1.2.3")
    for address in ("127.0.0.1", None, "nonsense"):
        with pytest.raises(Forbidden):
            await identity.authenticate(token, address=address)


@pytest.mark.parametrize(
    ("listed", "address", "allowed"),
    [
        ("10.0.0.0/8", "::ffff:10.1.2.3", True),
        ("10.0.0.0/8", "::FFFF:0a01:0203", True),
        ("10.0.0.0/8", "::ffff:11.1.2.3", False),
        ("::ffff:10.0.0.0/104", "10.1.2.3", True),
        ("::ffff:10.0.0.0/104", "::ffff:10.1.2.3", True),
        ("2001:db8::/32", "2001:db8::1", True),
        ("2001:db8::/32", "::ffff:10.1.2.3", False),
        ("::/0", "2001:db8::1", True),
    ],
)
async def test_address_wrapped_for_a_socket_of_both_families_is_the_same_address(
    identity: Identity,
    accounts: ServiceAccounts,
    issued: IssuedSecret,
    listed: str,
    address: str,
    allowed: bool,
) -> None:
    await accounts.set_ip_access_list("p", issued.account.client_id, [listed])
    token = await token_of(accounts, issued)

    refused = False
    try:
        await identity.authenticate(token, address=address)
    except Forbidden:
        refused = True

    assert refused is not allowed


async def test_token_signed_by_another_owner_is_refused(
    store: Store, clock: ManualClock, accounts: ServiceAccounts, issued: IssuedSecret
) -> None:
    other = Identity(
        accounts=store.accounts,
        members=store.members,
        tokens=Tokens(clock=clock, owner_token="another"),
        owner_token="another",
    )

    with pytest.raises(NotAuthenticated):
        await other.authenticate(await token_of(accounts, issued))


async def test_a_person_is_who_they_are_in_their_project(
    identity: Identity, members: MemberKeeping
) -> None:
    made = await members.add("p", "ana", AccountRole.AGENT_DEVELOPER)
    logged_in = await members.log_in("ana", made.password, project_id="p", address=None)

    principal = await identity.authenticate(logged_in.access_token, project_id="p")

    assert (principal.kind, principal.id, principal.project_id, principal.role) == (
        PrincipalKind.PERSON,
        "ana",
        "p",
        AccountRole.AGENT_DEVELOPER,
    )


async def test_a_member_who_is_not_active_is_refused_whatever_is_left_of_their_logins(
    identity: Identity, members: MemberKeeping, store: Store
) -> None:
    made = await members.add("p", "ana", AccountRole.AGENT_DEVELOPER)
    logged_in = await members.log_in("ana", made.password, project_id="p", address=None)
    inactive = replace(made.member, is_active=False)
    await store.members.put(inactive, expected_updated_at=made.member.updated_at)

    with pytest.raises(NotAuthenticated, match="not active"):
        await identity.authenticate(logged_in.access_token)


@pytest.mark.parametrize(("subject", "project"), [("bob", "p"), ("ana", "another")])
async def test_a_login_is_nobody_elses(
    identity: Identity, members: MemberKeeping, tokens: Tokens, subject: str, project: str
) -> None:
    made = await members.add("p", "ana", AccountRole.AGENT_DEVELOPER)
    logged_in = await members.log_in("ana", made.password, project_id="p", address=None)
    login_id = tokens.read(logged_in.access_token).login_id
    claims = Claims(
        kind=PrincipalKind.PERSON, subject=subject, project_id=project, login_id=login_id
    )

    with pytest.raises(NotAuthenticated):
        await identity.authenticate(tokens.issue(claims))


async def test_an_agents_process_is_whose_execution_it_works_on_and_nobody_between_two(
    identity: Identity, executions: ExecutionKeeping
) -> None:
    executions.admit(badge := Badge())
    whose = MemoryIdentity(kind=PrincipalKind.OWNER, user_id="ana")
    execution = await executions.begin(
        project_id="p", identity=whose, session_id="s", workspace="default"
    )
    badge.execution_id = execution.id

    principal = await identity.authenticate(badge.token, project_id="p")
    await executions.finish(execution.id, ExecutionStatus.COMPLETED)

    assert (principal.kind, principal.id) == (PrincipalKind.EXECUTION, "ana")
    with pytest.raises(NotAuthenticated, match="only while"):
        await identity.authenticate(badge.token, project_id="p")


async def at_work(executions: ExecutionKeeping, kind: PrincipalKind, invoker: str) -> Badge:
    """Return the badge of an agent that somebody has invoked, and that works."""
    executions.admit(badge := Badge())
    whose = MemoryIdentity(kind=kind, invoker=invoker, user_id="ana")
    execution = await executions.begin(
        project_id="p", identity=whose, session_id="s", workspace="w"
    )
    badge.execution_id = execution.id
    return badge


async def test_an_agents_process_acts_for_whoever_invoked_it_as_they_stand_now(
    identity: Identity, members: MemberKeeping, executions: ExecutionKeeping
) -> None:
    await members.add("p", "ana", AccountRole.AGENT_DEVELOPER)
    badge = await at_work(executions, PrincipalKind.PERSON, "ana")

    await members.change("p", "ana", role=AccountRole.PROJECT_READ_ONLY)

    behind = (await identity.authenticate(badge.token)).on_behalf_of
    assert behind is not None
    assert (behind.kind, behind.id, behind.role) == (
        PrincipalKind.PERSON,
        "ana",
        AccountRole.PROJECT_READ_ONLY,
    )


@pytest.mark.parametrize("end", ["removed", "inactive", "added again"])
async def test_an_agents_process_is_out_with_the_person_who_invoked_it(
    identity: Identity,
    members: MemberKeeping,
    executions: ExecutionKeeping,
    clock: ManualClock,
    end: str,
) -> None:
    await members.add("p", "ana", AccountRole.AGENT_DEVELOPER)
    badge = await at_work(executions, PrincipalKind.PERSON, "ana")
    await identity.authenticate(badge.token)
    clock.advance(1)

    if end == "inactive":
        await members.change("p", "ana", is_active=False)
    else:
        await members.remove("p", "ana")
    if end == "added again":
        await members.add("p", "ana", AccountRole.AGENT_DEVELOPER)

    with pytest.raises(NotAuthenticated, match="not let in any more"):
        await identity.authenticate(badge.token)


@pytest.mark.parametrize("end", ["deleted", "inactive", "of another project"])
async def test_an_agents_process_is_out_with_the_account_that_invoked_it(
    identity: Identity,
    accounts: ServiceAccounts,
    issued: IssuedSecret,
    executions: ExecutionKeeping,
    end: str,
) -> None:
    client_id = issued.account.client_id
    if end == "of another project":
        other = NewAccount(name="other", role=AccountRole.AGENT_DEVELOPER)
        client_id = (await accounts.create("q", other)).account.client_id
    badge = await at_work(executions, PrincipalKind.SERVICE_ACCOUNT, client_id)

    if end == "deleted":
        await accounts.delete("p", client_id)
    if end == "inactive":
        await accounts.change("p", client_id, is_active=False)

    with pytest.raises(NotAuthenticated, match="not let in any more"):
        await identity.authenticate(badge.token)


@pytest.fixture
def executions(store: Store, clock: ManualClock, ids: CountingIds) -> ExecutionKeeping:
    return ExecutionKeeping(executions=store.executions, clock=clock, ids=ids)


@pytest.fixture
def identity(store: Store, tokens: Tokens, executions: ExecutionKeeping) -> Identity:
    return Identity(
        accounts=store.accounts,
        members=store.members,
        tokens=tokens,
        owner_token=OWNER_TOKEN,
        executions=executions,
    )
