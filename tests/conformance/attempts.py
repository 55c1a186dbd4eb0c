"""What every counter of attempts promises. Each store's test module runs the whole class."""

import asyncio
from datetime import datetime, timedelta

from memory_server.ports.store import Store
from tests.clock import START

WINDOW = timedelta(minutes=5)
TICK = timedelta(seconds=1)


async def count(store: Store, key: str = "ana", *, now: datetime = START) -> datetime | None:
    """Make one attempt of three."""
    return await store.attempts.count(key, most=3, window=WINDOW, now=now)


class AttemptsContract:
    """A subclass provides the fixture `store`, open and empty."""

    async def test_so_many_are_noted_and_the_next_is_told_the_oldest(self, store: Store) -> None:
        noted = [await count(store, now=START + TICK * number) for number in range(3)]

        assert noted == [None, None, None]
        assert await count(store, now=START + TICK * 3) == START

    async def test_keys_are_counted_apart(self, store: Store) -> None:
        for _ in range(3):
            await count(store)

        assert await count(store, "bob") is None
        assert await count(store, "$ana.") is None

    async def test_the_window_slides(self, store: Store) -> None:
        for number in range(3):
            await count(store, now=START + TICK * number)

        assert await count(store, now=START + WINDOW - TICK) == START
        assert await count(store, now=START + WINDOW) is None
        assert await count(store, now=START + WINDOW) == START + TICK

    async def test_what_was_refused_does_not_count(self, store: Store) -> None:
        for _ in range(3):
            await count(store)
        for _ in range(5):
            await count(store, now=START + TICK)

        assert await count(store, now=START + WINDOW) is None

    async def test_attempts_made_at_once_do_not_pass_together(self, store: Store) -> None:
        outcomes = await asyncio.gather(*(count(store) for _ in range(12)))

        assert outcomes.count(None) == 3

    async def test_one_that_is_forgiven_does_not_count(self, store: Store) -> None:
        for _ in range(3):
            await count(store)

        await store.attempts.forgive("ana")
        await store.attempts.forgive("nobody")

        assert [await count(store), await count(store)] == [None, START]

    async def test_old_keys_are_forgotten(self, store: Store) -> None:
        await count(store, "old")
        for _ in range(3):
            await count(store, "new", now=START + TICK)

        assert await store.attempts.forget(before=START + TICK) == 1
        assert await count(store, "new", now=START + TICK) == START + TICK
