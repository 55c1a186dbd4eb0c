"""The mirror scores as the store in one file does, in whichever order turns come to it."""

import asyncio
import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_server.domain.chunk import Source
from memory_server.domain.scope import Scope
from memory_server.domain.turn import Turn
from memory_server.ports.search import Hit, SearchIndex, Selection
from memory_server.search.local.index import LocalIndex
from memory_server.storage.mongo.mirror.marks import Key
from memory_server.storage.mongo.mirror.refresher import Refresher
from memory_server.storage.sqlite.store import SqliteStore
from tests.clock import ManualClock
from tests.factories import PROJECT, SESSION, a_scope, a_snapshot, a_turn
from tests.unit.memory_server.storage.mongo.mirror.stored import fact
from tests.unit.memory_server.storage.mongo.mirror.test_refresher import mirroring

WORDS = ("cello", "ferry", "harbour", "lamp", "violet", "winter")
SAYINGS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["ana", "bob"]), st.sampled_from(WORDS)),
        st.tuples(st.just("promote"), st.integers(1, 4)),
    ),
    max_size=25,
)


async def said(store: SqliteStore, sayings: Sequence[tuple[str, str | int]]) -> Sequence[Turn]:
    """Say it all in one session, promoting runs of it on the way; return the turns as stored."""
    promoted = last = 0
    for who, what in sayings:
        if who != "promote":
            turn = a_turn(f"{what} {last}", user_id=who)
            last = (await store.turns.append(turn)).turn_seq
        elif promoted < last:
            until = min(last, promoted + int(what))
            await store.snapshots.promote(a_snapshot(promoted + 1, until), [])
            promoted = until
    return await store.turns.run(PROJECT, SESSION, first_seq=1, last_seq=last)


async def scores(index: SearchIndex) -> dict[tuple[str | None, str], Sequence[Hit]]:
    """Return what every word finds, of each user and of both."""
    return {
        (user, word): await index.text(_selection(a_scope(user_id=user)), [word])
        for user in ("ana", "bob", None)
        for word in WORDS
    }


def _selection(scope: Scope) -> Selection:
    return Selection(scope=scope, source=Source.STM, limit=100)


@settings(max_examples=60, deadline=None)
@given(SAYINGS, st.randoms(use_true_random=False))
def test_words_score_as_in_the_store_in_one_file(
    sayings: list[tuple[str, str | int]], chance: random.Random
) -> None:
    async def scenario() -> None:
        store = SqliteStore(None, clock=ManualClock())
        await store.open()
        turns = await said(store, sayings)
        async with mirroring() as mirror:
            index = LocalIndex(mirror.cache, vector_memory_bytes=1)
            keys = [mirror.stored.keep_turn(turn) for turn in turns]
            await _hear(mirror.refresher, keys, chance)
            assert await scores(index) == await scores(store.search)

            await mirror.refresher.load({"at": 1}, "again")
            await mirror.until_loaded()
            assert await scores(index) == await scores(store.search)
        async with mirroring(loaded=False) as anew:
            for turn in turns:
                anew.stored.keep_turn(turn)
            await anew.refresher.load({"at": 0}, "anew")
            await anew.until_loaded()
            index = LocalIndex(anew.cache, vector_memory_bytes=1)
            assert await scores(index) == await scores(store.search)
        await store.close()

    asyncio.run(scenario())


async def _hear(refresher: Refresher, keys: list[Key], chance: random.Random) -> None:
    """Tell of the turns in any order, some at a time."""
    chance.shuffle(keys)
    while keys:
        some = chance.randint(1, len(keys))
        refresher.mark_own(keys[:some])
        del keys[:some]
        await refresher.settle()


@pytest.mark.parametrize("gone", [0, 1, 2, 3])
async def test_what_is_left_scores_as_if_loaded_anew(gone: int) -> None:
    store = SqliteStore(None, clock=ManualClock())
    await store.open()
    turns = await said(store, [("ana", word) for word in WORDS])
    await store.close()
    async with mirroring() as mirror, mirroring(loaded=False) as anew:
        keys = [mirror.stored.keep_turn(turn) for turn in turns]
        mirror.refresher.mark_own([*keys, fact(1)])
        await mirror.refresher.settle()
        del mirror.stored.entries[keys[gone]]
        mirror.refresher.mark_own([keys[gone]])
        await mirror.refresher.settle()

        anew.stored.entries |= mirror.stored.entries
        await anew.refresher.load({"at": 0}, "anew")
        await anew.until_loaded()

        indexes = [LocalIndex(one.cache, vector_memory_bytes=1) for one in (mirror, anew)]
        assert await scores(indexes[0]) == await scores(indexes[1])
