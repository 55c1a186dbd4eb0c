from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from memory_server.domain.account import AccountRole, ServiceAccount
from memory_server.errors import (
    AccountNotFound,
    DuplicateName,
    InvalidRequest,
    NotAuthenticated,
    RateLimited,
    VersionConflict,
)
from memory_server.ports.accounts import Accounts
from memory_server.ports.store import Store
from memory_server.services.service_accounts import (
    MOST_OF_ACCOUNT,
    MOST_OF_ADDRESS,
    IssuedSecret,
    NewAccount,
    ServiceAccounts,
)
from memory_server.services.tokens import Tokens
from tests.clock import ManualClock
from tests.unit.memory_server.services.conftest import token_of


async def test_wrong_secret_and_unknown_client_fail_alike(
    accounts: ServiceAccounts, issued: IssuedSecret
) -> None:
    for client, secret in ((issued.account.client_id, "wrong"), ("ae_sa_id_none", "wrong")):
        with pytest.raises(NotAuthenticated, match="client id or the client secret"):
            await accounts.issue_token(client, secret)


async def test_secret_is_kept_only_as_a_salted_hash(issued: IssuedSecret) -> None:
    assert issued.client_secret not in repr(issued.account.secrets[0].digest)
    assert issued.client_secret not in repr(issued)


async def test_secret_expires(
    accounts: ServiceAccounts, issued: IssuedSecret, clock: ManualClock
) -> None:
    clock.advance(by=timedelta(hours=2161))

    with pytest.raises(NotAuthenticated):
        await token_of(accounts, issued)


async def test_former_secret_stays_valid_through_its_grace(
    accounts: ServiceAccounts, issued: IssuedSecret, clock: ManualClock
) -> None:
    rotated = await accounts.rotate_secret("p", issued.account.client_id)
    await token_of(accounts, issued)
    await token_of(accounts, rotated)

    clock.advance(by=timedelta(days=7, seconds=1))

    await token_of(accounts, rotated)
    with pytest.raises(NotAuthenticated):
        await token_of(accounts, issued)


async def test_rotating_again_ends_the_grace_at_once(
    accounts: ServiceAccounts, issued: IssuedSecret
) -> None:
    await accounts.rotate_secret("p", issued.account.client_id)
    await accounts.rotate_secret("p", issued.account.client_id)

    with pytest.raises(NotAuthenticated):
        await token_of(accounts, issued)


async def test_an_account_that_is_not_active_gets_no_token_until_it_is_again(
    accounts: ServiceAccounts, issued: IssuedSecret
) -> None:
    await accounts.change("p", issued.account.client_id, is_active=False)
    with pytest.raises(NotAuthenticated):
        await token_of(accounts, issued)

    await accounts.change("p", issued.account.client_id, is_active=True)

    assert await token_of(accounts, issued)


async def test_a_deleted_account_cannot_be_made_active_again(
    accounts: ServiceAccounts, issued: IssuedSecret
) -> None:
    await accounts.delete("p", issued.account.client_id)

    with pytest.raises(AccountNotFound):
        await accounts.change("p", issued.account.client_id, is_active=True)


async def test_tokens_of_one_account_are_limited_and_the_limit_is_told(
    accounts: ServiceAccounts, issued: IssuedSecret, clock: ManualClock
) -> None:
    for _ in range(MOST_OF_ACCOUNT):
        await token_of(accounts, issued)

    with pytest.raises(RateLimited, match=f"{MOST_OF_ACCOUNT} in 60 seconds") as refused:
        await token_of(accounts, issued)

    clock.advance(refused.value.details["retry_after"])
    await token_of(accounts, issued)


async def test_trying_many_accounts_from_one_address_is_limited(
    accounts: ServiceAccounts, issued: IssuedSecret
) -> None:
    for number in range(MOST_OF_ADDRESS):
        with pytest.raises(NotAuthenticated):
            await accounts.issue_token(f"ae_sa_id_{number}", "wrong", address="10.0.0.1")

    with pytest.raises(RateLimited):
        await accounts.issue_token("ae_sa_id_next", "wrong", address="10.0.0.1")
    await token_of(accounts, issued)


async def test_whoever_does_not_know_the_secret_uses_up_nothing_of_the_account(
    accounts: ServiceAccounts, issued: IssuedSecret
) -> None:
    for number in range(MOST_OF_ACCOUNT + 1):
        with pytest.raises(NotAuthenticated):
            await accounts.issue_token(
                issued.account.client_id, "wrong", address=f"10.0.0.{number}"
            )

    assert await token_of(accounts, issued)


async def test_a_network_of_ipv6_is_limited_like_one_address(accounts: ServiceAccounts) -> None:
    for number in range(MOST_OF_ADDRESS):
        with pytest.raises(NotAuthenticated):
            await accounts.issue_token("ae_sa_id_x", "wrong", address=f"2001:db8::{number:x}")

    with pytest.raises(RateLimited):
        await accounts.issue_token("ae_sa_id_x", "wrong", address="2001:db8::ffff:1")
    with pytest.raises(NotAuthenticated):
        await accounts.issue_token("ae_sa_id_x", "wrong", address="2001:db8:0:1::1")


class Overtaken(ServiceAccounts):
    """Its change is overtaken by another one, each time it is about to be stored."""

    def __init__(
        self, other: ServiceAccounts, store: Store, clock: ManualClock, tokens: Tokens, times: int
    ) -> None:
        super().__init__(
            accounts=store.accounts, attempts=store.attempts, clock=clock, tokens=tokens
        )
        self._other = other
        self._times = times

    async def get(self, project_id: str | None, client_id: str) -> ServiceAccount:
        account = await super().get(project_id, client_id)
        if self._times:
            self._times -= 1
            await self._other.set_ip_access_list(project_id, client_id, ["10.0.0.0/8"])
        return account


async def test_rotation_does_not_undo_what_changed_meanwhile(
    accounts: ServiceAccounts,
    issued: IssuedSecret,
    store: Store,
    clock: ManualClock,
    tokens: Tokens,
) -> None:
    overtaken = Overtaken(accounts, store, clock, tokens, times=2)

    rotated = await overtaken.rotate_secret("p", issued.account.client_id)

    account = await accounts.get("p", issued.account.client_id)
    assert account.ip_access_list == ("10.0.0.0/8",)
    assert account == rotated.account
    await token_of(accounts, rotated)


async def test_change_that_is_overtaken_again_and_again_gives_up(
    accounts: ServiceAccounts,
    issued: IssuedSecret,
    store: Store,
    clock: ManualClock,
    tokens: Tokens,
) -> None:
    overtaken = Overtaken(accounts, store, clock, tokens, times=100)

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

    async def list(self, project_id: str | None) -> Sequence[ServiceAccount]:
        return await self._accounts.list(project_id)

    async def put(self, account: ServiceAccount, *, expected_updated_at: datetime) -> None:
        await self._accounts.put(account, expected_updated_at=expected_updated_at)

    async def touch(self, client_id: str, at: datetime) -> None:
        await self._accounts.touch(client_id, at)

    async def delete(self, client_id: str) -> None:
        await self._accounts.delete(client_id)


async def test_asking_for_a_token_does_not_undo_a_rotation(
    accounts: ServiceAccounts,
    issued: IssuedSecret,
    store: Store,
    clock: ManualClock,
    tokens: Tokens,
) -> None:
    rotated: list[IssuedSecret] = []

    async def rotate() -> None:
        rotated.append(await accounts.rotate_secret("p", issued.account.client_id))

    late = ServiceAccounts(
        accounts=LatePut(store.accounts, rotate),
        attempts=store.attempts,
        clock=clock,
        tokens=tokens,
    )
    await token_of(late, issued)

    await token_of(accounts, rotated[0])
    assert (await accounts.get("p", issued.account.client_id)).last_used_at == clock.now()


@pytest.mark.parametrize(
    "changes",
    [
        {"name": " "},
        {"secret_hours": 0},
        {"ip_access_list": ("nowhere",)},
        {"role": AccountRole.ORG_READ_ONLY},
    ],
)
async def test_incomplete_account_is_refused(
    accounts: ServiceAccounts, changes: dict[str, object]
) -> None:
    new = replace(NewAccount(name="n", role=AccountRole.AGENT_DEVELOPER), **changes)  # type: ignore[arg-type]

    with pytest.raises(InvalidRequest):
        await accounts.create("p", new)


async def test_an_account_of_the_organization_has_a_role_there(accounts: ServiceAccounts) -> None:
    with pytest.raises(InvalidRequest, match="ORG_GROUP_CREATOR"):
        await accounts.create(None, NewAccount(name="n", role=AccountRole.PROJECT_OWNER))


async def test_names_are_unique_in_a_project_and_in_the_organization(
    accounts: ServiceAccounts, issued: IssuedSecret
) -> None:
    new = NewAccount(name="bot", role=AccountRole.ORG_READ_ONLY)
    await accounts.create(None, new)

    with pytest.raises(DuplicateName):
        await accounts.create(None, new)
    with pytest.raises(DuplicateName):
        await accounts.create("p", NewAccount(name="bot", role=AccountRole.PROJECT_OWNER))


@pytest.mark.parametrize("project_id", ["another", None])
async def test_account_of_another_project_is_not_found(
    accounts: ServiceAccounts, issued: IssuedSecret, project_id: str | None
) -> None:
    with pytest.raises(AccountNotFound):
        await accounts.get(project_id, issued.account.client_id)
