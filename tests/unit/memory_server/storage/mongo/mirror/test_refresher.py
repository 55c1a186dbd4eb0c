"""The index ends at what is stored, in whichever order it hears of changes."""

import asyncio
import random
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import bson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_server.errors import StorageUnavailable
from memory_server.storage.mongo.mirror.cache import Cache
from memory_server.storage.mongo.mirror.marks import Key
from memory_server.storage.mongo.mirror.refresher import Refresher
from tests.clock import ManualClock
from tests.unit.memory_server.storage.mongo.mirror.stored import FACTS, Stored, fact, until

NUMBERS = st.integers(0, 4)
DOINGS = st.lists(
    st.one_of(
        st.tuples(st.just("keep"), NUMBERS),
        st.tuples(st.just("delete"), NUMBERS),
        st.tuples(st.just("hear late"), NUMBERS),
        st.tuples(st.sampled_from(["shut", "open", "load", "let go on"]), st.just(0)),
    ),
    max_size=40,
)


class Mirror:
    """A refresher at work over an index in memory."""

    def __init__(self) -> None:
        self.stored = Stored()
        self.clock = ManualClock()
        self.cache = Cache(None)
        self.refresher = Refresher(self.stored, self.cache, clock=self.clock)

    async def texts(self) -> dict[str, str]:
        """Return what the index holds, by id."""

        def read(connection: sqlite3.Connection) -> dict[str, str]:
            statement = (
                "SELECT d.id, w.body FROM documents AS d JOIN words AS w ON w.rowid = d.rowid"
            )
            return {row["id"]: row["body"] for row in connection.execute(statement)}

        return await self.cache.read(read)

    def wanted(self) -> dict[str, str]:
        """Return what the index is to hold."""
        return {key.id: entry.document.text for key, entry in self.stored.entries.items()}

    async def until_loaded(self) -> None:
        """Return once everything is read and every change of this server's own too."""
        await until(lambda: not self.refresher.is_loading)
        await self.refresher.settle()


@asynccontextmanager
async def mirroring(*, loaded: bool = True) -> AsyncIterator[Mirror]:
    mirror = Mirror()
    await mirror.refresher.resume(await mirror.cache.open("a test"))
    work = asyncio.create_task(mirror.refresher.run())
    try:
        if loaded:
            await mirror.refresher.load({"at": 0}, "the test began")
            await mirror.until_loaded()
        yield mirror
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        await mirror.cache.close()


@settings(max_examples=150, deadline=None)
@given(DOINGS, st.randoms(use_true_random=False))
def test_it_ends_at_what_is_stored_whatever_was_heard_when(
    doings: list[tuple[str, int]], chance: random.Random
) -> None:
    async def scenario() -> None:
        async with mirroring() as mirror:
            mirror.stored.page_size = 2
            unheard: list[Key] = []
            for number, (doing, which) in enumerate(doings):
                await _do(mirror, doing, fact(which), f"text {number}", unheard, chance)
            mirror.stored.gate.set()
            chance.shuffle(unheard)
            mirror.refresher.mark_others(unheard, {"at": 1})
            await until(lambda: not mirror.refresher.describe()["behind"]["documents"])
            await mirror.until_loaded()

            assert await mirror.texts() == mirror.wanted()

    asyncio.run(scenario())


async def _do(
    mirror: Mirror, doing: str, key: Key, text: str, unheard: list[Key], chance: random.Random
) -> None:
    """Do one thing; of a change, this server's own or another's, is heard now or later."""
    match doing:
        case "keep" | "delete":
            mirror.stored.keep(key, text)
            if doing == "delete":
                del mirror.stored.entries[key]
            unheard.append(key)
        case "hear late":
            _hear(mirror, unheard, chance)
        case "shut" | "open":
            (mirror.stored.gate.clear if doing == "shut" else mirror.stored.gate.set)()
        case "load" if mirror.stored.gate.is_set():
            await mirror.refresher.load({"at": 0}, "again")
        case "let go on":
            for _ in range(chance.randrange(20)):
                await asyncio.sleep(0)


def _hear(mirror: Mirror, unheard: list[Key], chance: random.Random) -> None:
    if unheard:
        heard = unheard.pop(chance.randrange(len(unheard)))
        if chance.random() < 0.5:
            mirror.refresher.mark_own([heard])
        else:
            mirror.refresher.mark_others([heard], None)


async def test_a_change_during_a_reading_is_read_again() -> None:
    async with mirroring() as mirror:
        mirror.stored.gate.clear()
        mirror.stored.keep(fact(1), "old")
        mirror.refresher.mark_own([fact(1)])
        await until(lambda: mirror.stored.read)

        mirror.stored.keep(fact(1), "new")
        mirror.refresher.mark_own([fact(1)])
        mirror.stored.gate.set()
        await mirror.refresher.settle()

        assert await mirror.texts() == mirror.wanted()


async def test_a_load_does_not_undo_what_changed_since_it_began() -> None:
    async with mirroring(loaded=False) as mirror:
        mirror.stored.collections = (FACTS,)
        mirror.stored.page_size = 2
        for number in range(5):
            mirror.stored.keep(fact(number), "old")
        mirror.stored.gate.clear()
        await mirror.refresher.load({"at": 0}, "the test began")
        await until(lambda: mirror.stored.read == 2)

        mirror.stored.keep(fact(3), "new")
        del mirror.stored.entries[fact(4)]
        mirror.refresher.mark_own([fact(3), fact(4)])
        mirror.stored.gate.set()
        await mirror.until_loaded()

        assert await mirror.texts() == mirror.wanted()


async def test_own_changes_go_before_those_of_others() -> None:
    async with mirroring() as mirror:
        for number in range(1000):
            mirror.stored.keep(fact(number), "theirs")
        mirror.refresher.mark_others([fact(number) for number in range(1000)], None)
        mirror.stored.keep(fact(2000), "mine")
        mirror.refresher.mark_own([fact(2000)])

        await mirror.refresher.settle()

        assert "m2000" in await mirror.texts()
        assert mirror.refresher.describe()["behind"]["documents"] > 0


async def test_the_place_in_the_stream_is_never_ahead_of_what_is_indexed() -> None:
    async with mirroring() as mirror:
        for number in range(1000):
            mirror.stored.keep(fact(number), "theirs")
            mirror.refresher.mark_others([fact(number)], {"at": number})

        behind = True
        while behind:
            behind = mirror.refresher.describe()["behind"]["documents"] > 0
            token = mirror.refresher.progress.token
            reached = bson.decode(token or b"")["at"]
            assert len(await mirror.texts()) >= reached + 1 or reached == 0
            await asyncio.sleep(0)

        assert bson.decode(mirror.refresher.progress.token or b"") == {"at": 999}


async def test_an_idle_stream_moves_the_place_on() -> None:
    async with mirroring() as mirror:
        mirror.refresher.mark_others([], {"at": 7})

        await until(lambda: mirror.refresher.progress.token == bson.encode({"at": 7}))


async def test_a_load_removes_what_is_gone_and_answers_meanwhile() -> None:
    async with mirroring() as mirror:
        for number in range(3):
            mirror.stored.keep(fact(number), "kept")
        mirror.refresher.mark_own([fact(number) for number in range(3)])
        await mirror.refresher.settle()
        del mirror.stored.entries[fact(1)]  # nobody tells of it

        mirror.stored.gate.clear()
        await mirror.refresher.load({"at": 9}, "the stream was lost")
        await mirror.refresher.settle()
        assert mirror.refresher.is_loading
        assert len(await mirror.texts()) == 3
        assert mirror.refresher.is_current

        mirror.stored.gate.set()
        await mirror.until_loaded()

        assert await mirror.texts() == mirror.wanted()
        told = mirror.refresher.describe()["last_load"]
        assert told["reason"] == "the stream was lost"
        assert datetime.fromisoformat(told["begun_at"]).tzinfo == UTC


async def test_a_search_waits_for_the_first_load() -> None:
    async with mirroring(loaded=False) as mirror:
        for number in range(500):
            mirror.stored.keep(fact(number), "there before")
        mirror.stored.gate.clear()
        await mirror.refresher.load({"at": 0}, "the test began")
        searching = asyncio.create_task(mirror.refresher.settle())
        assert mirror.refresher.state() == "loading 0 %"

        mirror.stored.gate.set()
        await searching

        assert await mirror.texts() == mirror.wanted()
        assert mirror.refresher.state() is None


async def test_a_search_is_refused_while_nothing_can_be_read() -> None:
    async with mirroring() as mirror:
        mirror.stored.keep(fact(1), "mine")
        mirror.stored.failures.append(StorageUnavailable("no primary"))
        mirror.refresher.mark_own([fact(1)])

        with pytest.raises(StorageUnavailable, match="no primary"):
            await mirror.refresher.settle()
        assert mirror.refresher.describe()["problem"] == "no primary"

        await until(lambda: mirror.clock.sleepers)
        mirror.clock.advance(1)
        await mirror.refresher.settle()

        assert await mirror.texts() == mirror.wanted()
        assert mirror.refresher.describe()["problem"] is None


async def test_the_age_of_the_oldest_change_is_told() -> None:
    async with mirroring() as mirror:
        mirror.stored.gate.clear()
        mirror.refresher.mark_others([fact(1)], None)
        mirror.clock.advance(3)
        mirror.refresher.mark_others([fact(2)], None)

        assert mirror.refresher.describe()["behind"] == {"documents": 2, "seconds": 3.0}
