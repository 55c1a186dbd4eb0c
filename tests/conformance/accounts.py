"""What every `Accounts` promises. Each store's test module runs the whole class."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from memory_server.domain.account import AccountRole, SecretHash
from memory_server.errors import AccountNotFound, DuplicateName
from memory_server.ports.store import Store
from tests.clock import START
from tests.factories import PROJECT, an_account

SECRETS = tuple(
    SecretHash(salt=f"salt {n}", digest=f"digest {n}", expires_at=START + timedelta(days=n))
    for n in (2, 1)
)


class AccountsContract:
    """A subclass provides the fixture `store`, open and empty."""

    async def test_an_account_comes_back_as_it_was_added(self, store: Store) -> None:
        account = an_account(
            secrets=SECRETS,
            description="nightly import",
            ip_access_list=("10.0.0.0/8",),
            is_active=False,
            last_used_at=START,
        )

        await store.accounts.add(account)

        assert await store.accounts.find(account.client_id) == account

    async def test_an_unknown_client_is_none(self, store: Store) -> None:
        assert await store.accounts.find("unknown") is None

    async def test_a_name_is_taken_once_in_a_project(self, store: Store) -> None:
        await store.accounts.add(an_account(name="importer"))

        with pytest.raises(DuplicateName):
            await store.accounts.add(an_account(name="importer"))
        await store.accounts.add(an_account(name="importer", project_id="bank"))

        assert len(await store.accounts.list(PROJECT)) == 1

    async def test_of_concurrent_accounts_with_one_name_one_is_added(self, store: Store) -> None:
        results = await asyncio.gather(
            *(store.accounts.add(an_account(name="importer")) for _ in range(8)),
            return_exceptions=True,
        )

        assert [type(one) for one in results if one is not None] == [DuplicateName] * 7

    async def test_accounts_are_listed_in_the_order_of_their_creation(self, store: Store) -> None:
        accounts = [an_account(created_at=START + timedelta(seconds=n)) for n in (1, 2, 0)]
        for account in [*accounts, an_account(project_id="bank")]:
            await store.accounts.add(account)

        listed = await store.accounts.list(PROJECT)

        assert listed == [accounts[2], accounts[0], accounts[1]]

    async def test_a_changed_account_is_stored(self, store: Store) -> None:
        account = an_account()
        await store.accounts.add(account)

        changed = replace(
            account, role=AccountRole.PROJECT_OWNER, secrets=SECRETS, last_used_at=START
        )
        await store.accounts.put(changed)

        assert await store.accounts.find(account.client_id) == changed

    async def test_an_account_cannot_take_the_name_of_another(self, store: Store) -> None:
        one, other = an_account(), an_account()
        await store.accounts.add(one)
        await store.accounts.add(other)

        with pytest.raises(DuplicateName):
            await store.accounts.put(replace(other, name=one.name))

    async def test_an_account_that_does_not_exist_cannot_be_changed(self, store: Store) -> None:
        with pytest.raises(AccountNotFound):
            await store.accounts.put(an_account())

    async def test_a_deleted_account_is_gone_and_its_name_is_free(self, store: Store) -> None:
        account = an_account()
        await store.accounts.add(account)

        await store.accounts.delete(account.client_id)

        assert await store.accounts.find(account.client_id) is None
        await store.accounts.add(an_account(name=account.name))

    async def test_an_account_that_does_not_exist_cannot_be_deleted(self, store: Store) -> None:
        with pytest.raises(AccountNotFound):
            await store.accounts.delete("unknown")
