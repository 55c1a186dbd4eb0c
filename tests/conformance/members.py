"""What every `Members` promises. Each store's test module runs the whole class."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from memory_server.domain.account import AccountRole, SecretHash
from memory_server.domain.member import Login, Member, PasswordHash
from memory_server.errors import DuplicateName, MemberNotFound, VersionConflict
from memory_server.ports.store import Store
from tests.clock import START
from tests.factories import PROJECT, a_login, a_member

LATER = START + timedelta(hours=1)
NEXT = SecretHash(salt="next", digest="next", expires_at=LATER)


async def begun(store: Store, member: Member, **changes: object) -> Login:
    login = a_login(project_id=member.project_id, user_id=member.user_id, **changes)
    await store.members.begin(login, of=member, now=START, most=5)
    return login


class MembersContract:
    """A subclass provides the fixture `store`, open and empty."""

    async def test_a_member_comes_back_as_they_were_added(self, store: Store) -> None:
        member = a_member(role=AccountRole.PROJECT_OWNER, is_active=False)

        await store.members.add(member)

        assert await store.members.find(PROJECT, member.user_id) == member

    async def test_a_user_is_a_member_once_in_a_project(self, store: Store) -> None:
        await store.members.add(here := a_member(user_id="ana"))

        with pytest.raises(DuplicateName):
            await store.members.add(a_member(user_id="ana"))
        await store.members.add(there := a_member(user_id="ana", project_id="bank"))

        assert await store.members.named("ana") == [there, here]
        assert await store.members.find("bank", "ana") == there
        assert await store.members.find("other", "ana") is None

    async def test_members_are_listed_in_the_order_of_their_creation(self, store: Store) -> None:
        members = [a_member(created_at=START + timedelta(seconds=n)) for n in (1, 2, 0)]
        for member in [*members, a_member(project_id="bank")]:
            await store.members.add(member)

        assert await store.members.list(PROJECT) == [members[2], members[0], members[1]]

    @pytest.mark.parametrize("ends", [True, False])
    async def test_a_changed_member_is_stored_and_their_logins_end_if_they_are_to(
        self, store: Store, ends: bool
    ) -> None:
        await store.members.add(member := a_member())
        await store.members.add(other := a_member())
        logins = [await begun(store, member), await begun(store, other)]
        password = PasswordHash(salt="s2", digest="d2")
        changed = replace(member, password=password, is_active=False, updated_at=LATER)

        await store.members.put(changed, expected_updated_at=START, ends_logins=ends)

        assert await store.members.find(PROJECT, member.user_id) == changed
        left = [await store.members.login(login.id) is not None for login in logins]
        assert left == [not ends, True]

    async def test_a_member_changed_meanwhile_is_not_overwritten(self, store: Store) -> None:
        await store.members.add(member := a_member())
        login = await begun(store, member)
        changed = replace(member, is_active=False, updated_at=LATER)
        await store.members.put(changed, expected_updated_at=START)

        with pytest.raises(VersionConflict):
            await store.members.put(
                replace(member, role=AccountRole.PROJECT_OWNER),
                expected_updated_at=START,
                ends_logins=True,
            )

        assert await store.members.login(login.id) == (login, changed)

    async def test_a_removed_member_is_gone_with_their_logins(self, store: Store) -> None:
        await store.members.add(member := a_member(user_id="ana"))
        await store.members.add(elsewhere := a_member(user_id="ana", project_id="bank"))
        logins = [await begun(store, member), await begun(store, elsewhere)]

        await store.members.remove(PROJECT, "ana")
        await store.members.add(member)

        assert await store.members.login(logins[0].id) is None
        assert await store.members.login(logins[1].id) == (logins[1], elsewhere)

    async def test_who_is_no_member_is_not_changed_removed_or_logged_in(self, store: Store) -> None:
        with pytest.raises(MemberNotFound):
            await store.members.put(a_member(), expected_updated_at=START)
        with pytest.raises(MemberNotFound):
            await store.members.remove(PROJECT, "unknown")
        member = a_member(user_id="unknown")
        with pytest.raises(MemberNotFound):
            await store.members.begin(a_login(user_id="unknown"), of=member, now=START, most=5)

    async def test_who_was_changed_meanwhile_is_not_logged_in(self, store: Store) -> None:
        await store.members.add(member := a_member())
        changed = replace(member, password=PasswordHash(salt="s2", digest="d2"))
        await store.members.put(changed, expected_updated_at=START)

        with pytest.raises(VersionConflict):
            await begun(store, member)

        assert (await begun(store, changed)).user_id == member.user_id

    async def test_a_login_comes_back_with_its_member(self, store: Store) -> None:
        await store.members.add(member := a_member())
        login = await begun(store, member)

        assert await store.members.login(login.id) == (login, member)
        assert await store.members.login("unknown") is None

    async def test_a_refresh_token_is_replaced_once(self, store: Store) -> None:
        await store.members.add(member := a_member())
        login = await begun(store, member)

        renewed = [
            await store.members.renew(login.id, former=login.refresh, refresh=NEXT)
            for _ in range(2)
        ]

        assert renewed == [True, False]
        assert await store.members.login(login.id) == (replace(login, refresh=NEXT), member)

    async def test_of_concurrent_renewals_one_wins(self, store: Store) -> None:
        await store.members.add(member := a_member())
        login = await begun(store, member)

        renewed = await asyncio.gather(
            *(store.members.renew(login.id, former=login.refresh, refresh=NEXT) for _ in range(8))
        )

        assert sum(renewed) == 1

    async def test_a_login_that_ended_is_gone_and_may_end_again(self, store: Store) -> None:
        await store.members.add(member := a_member())
        login, other = await begun(store, member), await begun(store, member)

        await store.members.end(login.id)
        await store.members.end(login.id)

        assert await store.members.login(login.id) is None
        assert await store.members.login(other.id) is not None

    async def test_the_logins_of_a_member_are_bounded_and_the_oldest_go(self, store: Store) -> None:
        await store.members.add(member := a_member())
        await store.members.add(other := a_member())
        kept = await begun(store, other)
        moments = [START + timedelta(seconds=n) for n in (3, 1, 2, 4, 5, 6)]
        logins = [await begun(store, member, created_at=at) for at in moments]

        left = [await store.members.login(login.id) is not None for login in logins]

        assert left == [True, False, True, True, True, True]
        assert await store.members.login(kept.id) is not None

    async def test_logins_that_are_over_go_when_another_begins(self, store: Store) -> None:
        await store.members.add(member := a_member())
        over = await begun(store, member, refresh=replace(NEXT, expires_at=START))
        good = await begun(store, member)

        await begun(store, member)

        assert await store.members.login(over.id) is None
        assert await store.members.login(good.id) is not None
