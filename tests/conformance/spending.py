"""What every `Spending` promises. Each store's test module runs the whole class."""

import asyncio
from datetime import timedelta

from memory_server.domain.spending import HOUR, Usage
from memory_server.ports.store import Store
from tests.clock import START
from tests.factories import a_project

MINUTE = timedelta(minutes=1)
CALL = Usage(calls=1, input_tokens=100, output_tokens=10)
LARGE = 2**40
"""More tokens than 32 bits hold."""


async def taken(store: Store, project_id: str = "shop", *, hours: int = 1) -> Usage:
    """Return what a project took in the hours from the start on."""
    return await store.spending.read(project_id, since=START, before=START + HOUR * hours)


class SpendingContract:
    """A subclass provides the fixture `store`, open and empty."""

    async def test_nothing_is_taken_at_first(self, store: Store) -> None:
        assert await taken(store) == Usage()
        assert await store.spending.by_project(since=START, before=START + HOUR) == {}

    async def test_what_is_taken_within_an_hour_is_added_up(self, store: Store) -> None:
        await store.spending.add("shop", CALL, at=START)
        await store.spending.add("shop", CALL, at=START + MINUTE * 59)
        await store.spending.add("shop", Usage(calls=1, input_tokens=LARGE), at=START + MINUTE)

        assert await taken(store) == Usage(calls=3, input_tokens=200 + LARGE, output_tokens=20)

    async def test_hours_and_projects_are_counted_apart(self, store: Store) -> None:
        await store.spending.add("shop", CALL, at=START)
        await store.spending.add("shop", CALL, at=START + HOUR)
        await store.spending.add("bank", CALL, at=START + HOUR)

        assert await taken(store) == CALL
        assert await taken(store, hours=2) == CALL + CALL
        later = await store.spending.by_project(since=START + HOUR, before=START + HOUR * 2)
        assert later == {"bank": CALL, "shop": CALL}

    async def test_what_is_taken_at_once_is_all_counted(self, store: Store) -> None:
        await asyncio.gather(*(store.spending.add("shop", CALL, at=START) for _ in range(12)))

        assert await taken(store) == Usage(calls=12, input_tokens=1200, output_tokens=120)

    async def test_hours_long_ago_are_forgotten(self, store: Store) -> None:
        for hours in range(3):
            await store.spending.add("shop", CALL, at=START + HOUR * hours)

        assert await store.spending.forget(before=START + HOUR * 2) == 2
        assert await taken(store, hours=3) == CALL

    async def test_a_project_takes_its_counts_with_it(self, store: Store) -> None:
        await store.projects.add(a_project(id="shop", name="shop"))
        await store.projects.add(a_project(id="bank", name="bank"))
        for project in ("shop", "bank"):
            await store.spending.add(project, CALL, at=START)

        await store.projects.remove("shop")
        await store.spending.add("shop", CALL, at=START + MINUTE)

        found = await store.spending.by_project(since=START, before=START + HOUR)
        assert found == {"bank": CALL}

    async def test_a_project_of_a_former_id_begins_at_nothing(self, store: Store) -> None:
        await store.projects.add(a_project(id="shop", name="shop"))
        await store.spending.add("shop", CALL, at=START)
        await store.projects.remove("shop")

        await store.projects.add(a_project(id="shop", name="shop", created_at=START + MINUTE))
        await store.spending.add("shop", CALL, at=START + MINUTE * 2)

        assert await taken(store) == CALL
