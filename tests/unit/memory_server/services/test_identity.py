from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from memory_server.domain.account import AccountRole, PrincipalKind, ServiceAccount
from memory_server.errors import (
    AccountNotFound,
    DuplicateName,
    Forbidden,
    InvalidRequest,
    NotAuthenticated,
    TokenExpired,
    VersionConflict,
)
from memory_server.ports.accounts import Accounts
from memory_server.ports.store import Store
from memory_server.services.identity import Identity, IssuedSecret, NewAccount
from tests.clock import ManualClock

OWNER_TOKEN = "the-owner-token"


@pytest.fixture
def identity(store: Store, clock: ManualClock) -> Identity:
    return Identity(accounts=store.accounts, clock=clock, owner_token=OWNER_TOKEN)


@pytest.fixture
async def issued(identity: Identity) -> IssuedSecret:
    return await identity.create_account(
        "p", NewAccount(name="bot", role=AccountRole.PROJECT_OWNER)
    )


async def token_of(identity: Identity, issued: IssuedSecret) -> str:
    return await identity.issue_token(issued.account.client_id, issued.client_secret)


async def test_owner_token_is_the_owners(identity: Identity) -> None:
    principal = await identity.authenticate(OWNER_TOKEN, project_id="p")

    assert principal.kind is PrincipalKind.OWNER


@pytest.mark.parametrize("bearer", ["", "wrong", "a.b.c", OWNER_TOKEN + " "])
async def test_other_tokens_are_refused(identity: Identity, bearer: str) -> None:
    with pytest.raises(NotAuthenticated):
        await identity.authenticate(bearer)


async def test_client_credentials_give_a_token_of_the_account(
    identity: Identity, issued: IssuedSecret
) -> None:
    principal = await identity.authenticate(await token_of(identity, issued), project_id="p")

    assert (principal.kind, principal.id) == (
        PrincipalKind.SERVICE_ACCOUNT,
        issued.account.client_id,
    )


async def test_wrong_secret_and_unknown_client_fail_alike(
    identity: Identity, issued: IssuedSecret
) -> None:
    for client, secret in ((issued.account.client_id, "wrong"), ("ae_sa_id_none", "wrong")):
        with pytest.raises(NotAuthenticated, match="client id or the client secret"):
            await identity.issue_token(client, secret)


async def test_token_ends_after_an_hour(
    identity: Identity, issued: IssuedSecret, clock: ManualClock
) -> None:
    token = await token_of(identity, issued)
    clock.advance(by=timedelta(minutes=59))
    await identity.authenticate(token)
    clock.advance(by=timedelta(minutes=1))

    with pytest.raises(TokenExpired, match="expired"):
        await identity.authenticate(token)


async def test_token_is_good_for_its_project_only(identity: Identity, issued: IssuedSecret) -> None:
    token = await token_of(identity, issued)

    with pytest.raises(Forbidden):
        await identity.authenticate(token, project_id="another")


async def test_deleted_account_is_refused_on_the_next_request(
    identity: Identity, issued: IssuedSecret
) -> None:
    token = await token_of(identity, issued)
    await identity.delete_account("p", issued.account.client_id)

    with pytest.raises(NotAuthenticated):
        await identity.authenticate(token)


async def test_secret_is_kept_only_as_a_salted_hash(issued: IssuedSecret) -> None:
    assert issued.client_secret not in repr(issued.account)


async def test_secret_expires(identity: Identity, issued: IssuedSecret, clock: ManualClock) -> None:
    clock.advance(by=timedelta(hours=2161))

    with pytest.raises(NotAuthenticated):
        await token_of(identity, issued)


async def test_former_secret_stays_valid_through_its_grace(
    identity: Identity, issued: IssuedSecret, clock: ManualClock
) -> None:
    rotated = await identity.rotate_secret("p", issued.account.client_id)
    await token_of(identity, issued)
    await token_of(identity, rotated)

    clock.advance(by=timedelta(days=7, seconds=1))

    await token_of(identity, rotated)
    with pytest.raises(NotAuthenticated):
        await token_of(identity, issued)


async def test_rotating_again_ends_the_grace_at_once(
    identity: Identity, issued: IssuedSecret
) -> None:
    await identity.rotate_secret("p", issued.account.client_id)
    await identity.rotate_secret("p", issued.account.client_id)

    with pytest.raises(NotAuthenticated):
        await token_of(identity, issued)


async def test_address_must_be_on_the_list(identity: Identity, issued: IssuedSecret) -> None:
    await identity.set_ip_access_list("p", issued.account.client_id, ["10.0.0.0/8"])
    token = await token_of(identity, issued)

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
    identity: Identity, issued: IssuedSecret, listed: str, address: str, allowed: bool
) -> None:
    await identity.set_ip_access_list("p", issued.account.client_id, [listed])
    token = await token_of(identity, issued)

    refused = False
    try:
        await identity.authenticate(token, address=address)
    except Forbidden:
        refused = True

    assert refused is not allowed


class Overtaken(Identity):
    """An identity whose change is overtaken by another one, each time it is about to be stored."""

    def __init__(self, other: Identity, store: Store, clock: ManualClock, times: int) -> None:
        super().__init__(accounts=store.accounts, clock=clock, owner_token=OWNER_TOKEN)
        self._other = other
        self._times = times

    async def account(self, project_id: str, client_id: str) -> ServiceAccount:
        account = await super().account(project_id, client_id)
        if self._times:
            self._times -= 1
            await self._other.set_ip_access_list(project_id, client_id, ["10.0.0.0/8"])
        return account


async def test_rotation_does_not_undo_what_changed_meanwhile(
    identity: Identity, issued: IssuedSecret, store: Store, clock: ManualClock
) -> None:
    overtaken = Overtaken(identity, store, clock, times=2)

    rotated = await overtaken.rotate_secret("p", issued.account.client_id)

    account = await identity.account("p", issued.account.client_id)
    assert account.ip_access_list == ("10.0.0.0/8",)
    assert account == rotated.account
    await token_of(identity, rotated)


async def test_change_that_is_overtaken_again_and_again_gives_up(
    identity: Identity, issued: IssuedSecret, store: Store, clock: ManualClock
) -> None:
    overtaken = Overtaken(identity, store, clock, times=100)

    with pytest.raises(VersionConflict):
        await overtaken.rotate_secret("p", issued.account.client_id)


class LatePut(Accounts):
    """Lets the account change between being read and the note that it was used."""

    def __init__(self, accounts: Accounts, between: Callable[[], Awaitable[object]]) -> None:
        self._accounts = accounts
        self._between = between

    async def add(self, account: ServiceAccount) -> None:
        await self._accounts.add(account)

    async def find(self, client_id: str) -> ServiceAccount | None:
        found = await self._accounts.find(client_id)
        await self._between()
        return found

    async def list(self, project_id: str) -> Sequence[ServiceAccount]:
        return await self._accounts.list(project_id)

    async def put(self, account: ServiceAccount, *, expected_updated_at: datetime) -> None:
        await self._accounts.put(account, expected_updated_at=expected_updated_at)

    async def touch(self, client_id: str, at: datetime) -> None:
        await self._accounts.touch(client_id, at)

    async def delete(self, client_id: str) -> None:
        await self._accounts.delete(client_id)


async def test_asking_for_a_token_does_not_undo_a_rotation(
    identity: Identity, issued: IssuedSecret, store: Store, clock: ManualClock
) -> None:
    rotated: list[IssuedSecret] = []

    async def rotate() -> None:
        rotated.append(await identity.rotate_secret("p", issued.account.client_id))

    accounts = LatePut(store.accounts, rotate)
    late = Identity(accounts=accounts, clock=clock, owner_token=OWNER_TOKEN)
    await token_of(late, issued)

    await token_of(identity, rotated[0])
    assert (await identity.account("p", issued.account.client_id)).last_used_at == clock.now()


@pytest.mark.parametrize(
    "changes", [{"name": " "}, {"secret_hours": 0}, {"ip_access_list": ("nowhere",)}]
)
async def test_incomplete_account_is_refused(
    identity: Identity, changes: dict[str, object]
) -> None:
    new = replace(NewAccount(name="n", role=AccountRole.AGENT_DEVELOPER), **changes)  # type: ignore[arg-type]

    with pytest.raises(InvalidRequest):
        await identity.create_account("p", new)


async def test_names_are_unique_in_a_project(identity: Identity, issued: IssuedSecret) -> None:
    with pytest.raises(DuplicateName):
        await identity.create_account("p", NewAccount(name="bot", role=AccountRole.PROJECT_OWNER))


async def test_account_of_another_project_is_not_found(
    identity: Identity, issued: IssuedSecret
) -> None:
    with pytest.raises(AccountNotFound):
        await identity.account("another", issued.account.client_id)


async def test_token_signed_by_another_owner_is_refused(
    identity: Identity, issued: IssuedSecret, store: Store, clock: ManualClock
) -> None:
    other = Identity(accounts=store.accounts, clock=clock, owner_token="another")

    with pytest.raises(NotAuthenticated):
        await other.authenticate(await token_of(identity, issued))
