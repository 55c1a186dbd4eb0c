"""What every `Accounts` promises. Each store's test module runs the whole class."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from memory_server.domain.account import AccountRole, SecretHash
from memory_server.errors import AccountNotFound, DuplicateName, VersionConflict
from memory_server.ports.store import Store
from tests.clock import START
from tests.factories import PROJECT, an_account

LATER = START + timedelta(hours=1)

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
        await store.accounts.put(changed, expected_updated_at=START)

        assert await store.accounts.find(account.client_id) == changed

    async def test_an_account_changed_meanwhile_is_not_overwritten(self, store: Store) -> None:
        await store.accounts.add(account := an_account())
        disabled = replace(account, is_active=False, updated_at=LATER)
        await store.accounts.put(disabled, expected_updated_at=START)

        with pytest.raises(VersionConflict):
            await store.accounts.put(
                replace(account, secrets=SECRETS, updated_at=LATER), expected_updated_at=START
            )

        assert await store.accounts.find(account.client_id) == disabled

    async def test_of_concurrent_changes_of_an_account_one_wins(self, store: Store) -> None:
        await store.accounts.add(account := an_account())

        results = await asyncio.gather(
            *(
                store.accounts.put(
                    replace(account, description=f"{n}", updated_at=LATER + timedelta(seconds=n)),
                    expected_updated_at=START,
                )
                for n in range(8)
            ),
            return_exceptions=True,
        )

        assert [type(one) for one in results if one is not None] == [VersionConflict] * 7

    async def test_a_used_account_is_otherwise_as_it_was(self, store: Store) -> None:
        await store.accounts.add(account := an_account(secrets=SECRETS))
        changed = replace(account, is_active=False, updated_at=LATER)
        await store.accounts.put(changed, expected_updated_at=START)

        await store.accounts.touch(account.client_id, LATER)

        assert await store.accounts.find(account.client_id) == replace(changed, last_used_at=LATER)

    async def test_when_an_account_was_used_last_never_goes_back(self, store: Store) -> None:
        await store.accounts.add(account := an_account())
        await store.accounts.touch(account.client_id, LATER)

        await store.accounts.touch(account.client_id, START)
        await store.accounts.put(account, expected_updated_at=START)

        found = await store.accounts.find(account.client_id)
        assert found == replace(account, last_used_at=LATER)

    async def test_to_use_an_account_that_is_gone_does_nothing(self, store: Store) -> None:
        await store.accounts.touch("unknown", START)

        assert await store.accounts.find("unknown") is None

    async def test_an_account_cannot_take_the_name_of_another(self, store: Store) -> None:
        one, other = an_account(), an_account()
        await store.accounts.add(one)
        await store.accounts.add(other)

        with pytest.raises(DuplicateName):
            await store.accounts.put(replace(other, name=one.name), expected_updated_at=START)

    async def test_an_account_that_does_not_exist_cannot_be_changed(self, store: Store) -> None:
        with pytest.raises(AccountNotFound):
            await store.accounts.put(an_account(), expected_updated_at=START)

    async def test_a_deleted_account_is_gone_and_its_name_is_free(self, store: Store) -> None:
        account = an_account()
        await store.accounts.add(account)

        await store.accounts.delete(account.client_id)

        assert await store.accounts.find(account.client_id) is None
        await store.accounts.add(an_account(name=account.name))

    async def test_an_account_that_does_not_exist_cannot_be_deleted(self, store: Store) -> None:
        with pytest.raises(AccountNotFound):
            await store.accounts.delete("unknown")
