"""What every `Projects` promises. Each store's test module runs the whole class."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from memory_server.errors import DuplicateName, ProjectNotEmpty, ProjectNotFound, VersionConflict
from memory_server.ports.memories import Add
from memory_server.ports.store import Store
from tests.clock import START
from tests.factories import (
    USER,
    a_job,
    a_login,
    a_member,
    a_memory,
    a_project,
    a_scope,
    a_turn,
    an_account,
)

LATER = START + timedelta(hours=1)
TICK = timedelta(microseconds=1)


async def _a_turn(store: Store, at: datetime, project_id: str = "shop") -> None:
    await store.turns.append(a_turn(project_id=project_id, created_at=at), vector=None)


async def _a_memory(store: Store, at: datetime, project_id: str = "shop") -> None:
    memory = a_memory(project_id=project_id, created_at=at)
    await store.memories.apply(project_id, [Add(memory=memory)])


async def _a_job(store: Store, at: datetime, project_id: str = "shop") -> None:
    await store.jobs.enqueue([a_job(project_id=project_id, created_at=at)])


async def _an_account(store: Store, at: datetime, project_id: str = "shop") -> None:
    await store.accounts.add(an_account(project_id=project_id, created_at=at))


async def _a_member(store: Store, at: datetime, project_id: str = "shop") -> None:
    await store.members.add(a_member(project_id=project_id, created_at=at))


LATE: Mapping[str, Callable[..., Awaitable[None]]] = {
    "a turn": _a_turn,
    "a memory": _a_memory,
    "a job": _a_job,
    "an account": _an_account,
    "a member": _a_member,
}
"""What may be on its way into a project when that is removed."""


class ProjectsContract:
    """A subclass provides the fixture `store`, open and empty."""

    async def test_a_project_comes_back_as_it_was_added(self, store: Store) -> None:
        project = a_project(description="sells", enforce_identity=True, allow_delegation=True)

        await store.projects.add(project)

        assert await store.projects.find(project.id) == project

    async def test_an_unknown_project_is_none_until_it_is_added(self, store: Store) -> None:
        project = a_project()
        assert await store.projects.find(project.id) is None

        await store.projects.add(project)

        assert await store.projects.find(project.id) == project

    async def test_ids_and_names_are_taken_once(self, store: Store) -> None:
        await store.projects.add(project := a_project())

        for same in ({"id": project.id}, {"name": project.name}):
            with pytest.raises(DuplicateName):
                await store.projects.add(a_project(**same))

    async def test_of_concurrent_projects_with_one_name_one_is_added(self, store: Store) -> None:
        results = await asyncio.gather(
            *(store.projects.add(a_project(name="shop")) for _ in range(8)),
            return_exceptions=True,
        )

        assert [type(one) for one in results if one is not None] == [DuplicateName] * 7

    async def test_projects_are_listed_in_the_order_of_their_creation(self, store: Store) -> None:
        projects = [a_project(created_at=START + timedelta(seconds=n)) for n in (1, 2, 0)]
        for project in projects:
            await store.projects.add(project)

        listed = await store.projects.list()

        assert listed == [projects[2], projects[0], projects[1]]

    async def test_a_changed_project_is_read_as_it_is_now(self, store: Store) -> None:
        await store.projects.add(project := a_project())
        await store.projects.find(project.id)

        changed = replace(project, name="new", enforce_identity=True, updated_at=LATER)
        await store.projects.put(changed, expected_updated_at=START)

        assert await store.projects.find(project.id) == changed

    async def test_a_project_changed_meanwhile_is_not_overwritten(self, store: Store) -> None:
        await store.projects.add(project := a_project())
        changed = replace(project, enforce_identity=True, updated_at=LATER)
        await store.projects.put(changed, expected_updated_at=START)

        with pytest.raises(VersionConflict):
            await store.projects.put(replace(project, name="x"), expected_updated_at=START)

        assert await store.projects.find(project.id) == changed

    async def test_reading_while_it_changes_leaves_no_former_state(self, store: Store) -> None:
        await store.projects.add(project := a_project())
        changed = replace(project, enforce_identity=True, updated_at=LATER)

        await asyncio.gather(
            *(store.projects.find(project.id) for _ in range(8)),
            store.projects.put(changed, expected_updated_at=START),
            *(store.projects.find(project.id) for _ in range(8)),
        )

        assert await store.projects.find(project.id) == changed

    async def test_a_project_cannot_take_the_name_of_another(self, store: Store) -> None:
        await store.projects.add(one := a_project())
        await store.projects.add(other := a_project())

        with pytest.raises(DuplicateName):
            await store.projects.put(replace(other, name=one.name), expected_updated_at=START)

    async def test_a_project_that_does_not_exist_is_not_changed_or_removed(
        self, store: Store
    ) -> None:
        with pytest.raises(ProjectNotFound):
            await store.projects.put(a_project(), expected_updated_at=START)
        with pytest.raises(ProjectNotFound):
            await store.projects.remove("unknown")

    async def test_a_removed_project_goes_with_its_credentials_and_no_others(
        self, store: Store
    ) -> None:
        for id_ in ("shop", "bank"):
            await store.projects.add(a_project(id=id_))
            await store.accounts.add(an_account(project_id=id_))
            await store.members.add(member := a_member(project_id=id_, user_id=USER))
            login = a_login(id=f"login-{id_}", project_id=id_)
            await store.members.begin(login, of=member, now=START, most=5)

        await store.projects.remove("shop")

        assert await store.projects.find("shop") is None
        assert [one.id for one in await store.projects.list()] == ["bank"]
        for id_, left in (("shop", 0), ("bank", 1)):
            assert len(await store.accounts.list(id_)) == left
            assert len(await store.members.list(id_)) == left
            assert (await store.members.login(f"login-{id_}") is not None) is bool(left)

    async def test_a_login_does_not_come_back_with_its_project_and_its_member(
        self, store: Store
    ) -> None:
        member = a_member(project_id="shop")
        for again in (False, True):
            await store.projects.add(a_project(id="shop"))
            await store.members.add(member)
            if not again:
                login = a_login(id="login", project_id="shop", user_id=member.user_id)
                await store.members.begin(login, of=member, now=START, most=5)
                await store.projects.remove("shop")

        assert await store.members.login("login") is None

    @pytest.mark.parametrize("held", ["turn", "memory", "job"])
    async def test_a_project_that_holds_something_is_not_removed(
        self, store: Store, held: str
    ) -> None:
        await store.projects.add(a_project(id="shop"))
        await store.accounts.add(an_account(project_id="shop"))
        match held:
            case "turn":
                await store.turns.append(a_turn(project_id="shop"))
            case "memory":
                await store.memories.apply("shop", [Add(memory=a_memory(project_id="shop"))])
            case "job":
                await store.jobs.enqueue([a_job(project_id="shop")])

        with pytest.raises(ProjectNotEmpty):
            await store.projects.remove("shop")

        assert await store.projects.find("shop") is not None
        assert len(await store.accounts.list("shop")) == 1

    async def test_a_project_is_empty_when_all_of_its_users_are_erased(self, store: Store) -> None:
        await store.projects.add(a_project(id="shop"))
        await store.turns.append(a_turn(project_id="shop"))
        await store.memories.apply("shop", [Add(memory=a_memory(project_id="shop"))])
        await store.jobs.enqueue([a_job(project_id="shop")])

        await store.erase(a_scope(project_id="shop"))
        await store.projects.remove("shop")
        await store.projects.add(a_project(id="shop"))

        assert await store.snapshots.session("shop", "monday") is None

    async def test_a_new_project_begins_with_nothing_of_a_former_one(self, store: Store) -> None:
        await store.accounts.add(account := an_account(project_id="shop"))
        await store.members.add(a_member(project_id="shop"))

        await store.projects.add(a_project(id="shop"))

        assert await store.accounts.find(account.client_id) is None
        assert await store.members.list("shop") == []

    async def test_an_id_whose_memory_is_left_is_not_taken_again(self, store: Store) -> None:
        await store.turns.append(a_turn(project_id="shop"))

        with pytest.raises(ProjectNotEmpty):
            await store.projects.add(a_project(id="shop"))

    @pytest.mark.parametrize("write", LATE)
    async def test_a_write_that_comes_too_late_is_refused(self, store: Store, write: str) -> None:
        await store.projects.add(a_project(id="shop"))
        await store.projects.remove("shop")

        with pytest.raises(ProjectNotFound):
            await LATE[write](store, START)

        await store.projects.add(a_project(id="shop"))

    @pytest.mark.parametrize("write", LATE)
    async def test_a_write_for_a_former_project_does_not_come_into_the_next_of_its_id(
        self, store: Store, write: str
    ) -> None:
        await store.projects.add(a_project(id="shop"))
        await store.projects.remove("shop")
        await store.projects.add(a_project(id="shop", created_at=LATER))

        with pytest.raises(ProjectNotFound):
            await LATE[write](store, LATER - TICK)
        await LATE[write](store, LATER)
        with pytest.raises(ProjectNotFound):  # nor to what came in after it
            await LATE[write](store, LATER - TICK)

    async def test_an_adopted_project_of_a_former_id_takes_what_is_new(self, store: Store) -> None:
        await store.projects.add(a_project(id="shop"))
        await store.projects.remove("shop")

        await store.projects.adopt(a_project(id="shop", created_at=LATER))

        await store.turns.append(a_turn(project_id="shop", created_at=LATER))

    async def test_removing_a_project_refuses_nothing_to_others(self, store: Store) -> None:
        await store.projects.add(a_project(id="shop"))
        await store.projects.remove("shop")

        for write in LATE.values():
            await write(store, START, "bank")

    async def test_a_project_is_adopted_once_with_all_it_has(self, store: Store) -> None:
        await store.turns.append(a_turn(project_id="shop"))
        await store.accounts.add(account := an_account(project_id="shop"))

        await store.projects.adopt(adopted := a_project(id="shop"))
        await store.projects.adopt(a_project(id="shop"))

        assert await store.projects.find("shop") == adopted
        assert await store.accounts.find(account.client_id) == account
