"""What every `Store` promises as a whole. Each store's test module runs the whole class."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from memory_server.domain.chunk import Source
from memory_server.domain.job import JobKind
from memory_server.domain.scope import Scope
from memory_server.errors import LeaseLost, SnapshotNotFound, StorageUnavailable
from memory_server.ports.memories import Add, Replace
from memory_server.ports.search import Selection
from memory_server.ports.store import Store
from tests.clock import START
from tests.conformance.isolation import Known, fill, fingerprint
from tests.factories import (
    PROJECT,
    SESSION,
    SPACE,
    a_job,
    a_memory,
    a_scope,
    a_snapshot,
    a_term,
    a_turn,
    a_vector,
    an_account,
)

LATER = START + timedelta(hours=1)

CALLS: dict[str, Callable[[Store], Awaitable[object]]] = {
    "reading": lambda s: s.turns.recent(a_scope(session_id=SESSION), limit=1),
    "writing": lambda s: s.turns.append(a_turn()),
    "searching": lambda s: s.search.vector(
        Selection(scope=a_scope(), source=Source.STM, limit=1), a_vector(1), SPACE
    ),
    "ping": lambda s: s.ping(),
    "describe": lambda s: s.describe(),
}


async def traces(store: Store, known: Known) -> list[object]:
    """Return everything that is still to be found of Ana's."""
    scope = a_scope()
    sources = [
        *(Selection(scope=scope, source=source, limit=9) for source in Source),
        Selection(scope=scope, source=Source.CUSTOM, custom_type="ticket", limit=9),
    ]
    return [
        await store.turns.run(PROJECT, SESSION, first_seq=1, last_seq=9),
        await store.snapshots.session(PROJECT, SESSION),
        [job for job in await store.jobs.list(PROJECT) if job.user_id == known.job.user_id],
        await store.memories.get_many(scope, [known.memory.id, known.record.id]),
        *[await store.search.text(one, ["lisbon"]) for one in sources],
        *[await store.search.vector(one, a_vector(1), SPACE) for one in sources],
    ]


class StoreContract:
    """A subclass provides the fixture `store`, open and empty."""

    async def test_an_open_store_answers(self, store: Store) -> None:
        await store.ping()

    async def test_a_store_describes_itself(self, store: Store) -> None:
        assert {"kind", "location", "schema_version"} <= (await store.describe()).keys()

    @pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
    async def test_a_closed_store_says_so(
        self, store: Store, call: Callable[[Store], Awaitable[object]]
    ) -> None:
        await store.close()

        with pytest.raises(StorageUnavailable):
            await call(store)

    async def test_a_closed_store_can_be_opened_again(self, store: Store) -> None:
        await store.close()
        await store.open()

        assert (await store.turns.append(a_turn(session_id="new"))).turn_seq == 1

    async def test_opening_and_closing_twice_does_no_harm(self, store: Store) -> None:
        await store.open()
        turn = await store.turns.append(a_turn())
        await store.close()
        await store.close()

        assert turn.turn_seq == 1

    async def test_closing_finishes_what_was_begun(self, store: Store) -> None:
        calls = [asyncio.ensure_future(store.turns.append(a_turn())) for _ in range(20)]
        await asyncio.sleep(0)

        await store.close()

        assert len({turn.turn_seq for turn in await asyncio.gather(*calls)}) == 20

    async def test_erasing_a_user_leaves_no_trace(self, store: Store) -> None:
        known = await fill(store)
        new = a_memory(id=known.memory.id, body=a_term(), revision=2, version=2)
        replace = Replace(memory=new, former_id="former", vector=a_vector(1))
        await store.memories.apply(PROJECT, [replace], space=SPACE)

        counts = await store.erase(a_scope())

        assert not any(await traces(store, known))
        with pytest.raises(SnapshotNotFound):
            await store.snapshots.get(PROJECT, known.snapshot.id)
        assert counts == {
            "turns": 2,
            "sessions": 1,
            "snapshots": 1,
            "jobs": 2,
            "proposals": 1,
            "records": 1,
            "blocks": 1,
            "memories": 2,
            "idempotency_keys": 1,
            "index_entries": 6,
            "vectors": 5,
            "executions": 0,
        }

    async def test_an_erased_session_begins_anew(self, store: Store) -> None:
        await fill(store)
        await store.erase(a_scope())

        turn = await store.turns.append(a_turn(idempotency_key="k"))

        assert turn.turn_seq == 1

    async def test_work_for_an_erased_user_writes_nothing(self, store: Store) -> None:
        known = await fill(store)
        await store.erase(a_scope())

        with pytest.raises(LeaseLost):
            await store.memories.apply(PROJECT, [Add(memory=a_memory())], settling=known.job)

    async def test_erasing_a_user_leaves_others_in_the_same_session(self, store: Store) -> None:
        await store.turns.append(a_turn("my secret cello"))
        bobs = await store.turns.append(a_turn("a reply", user_id="bob"))
        await store.snapshots.promote(a_snapshot(1, 2, user_id="bob"), [a_job(user_id="bob")])

        await store.erase(a_scope())

        (left,) = await store.turns.run(PROJECT, SESSION, first_seq=1, last_seq=9)
        assert left.id == bobs.id
        everyone = Selection(scope=a_scope(user_id=None), source=Source.STM, limit=9)
        assert await store.search.text(everyone, ["secret", "cello"]) == []
        assert len(await store.jobs.list(PROJECT)) == 1

    async def test_erasing_a_project_leaves_the_others(self, store: Store) -> None:
        known = await fill(store)
        await store.turns.append(a_turn(user_id="bob"))
        others = await store.turns.append(a_turn(project_id="bank"))

        await store.erase(Scope(project_id=PROJECT))

        assert not any(await traces(store, known))
        assert await store.turns.get_many("bank", [others.id]) == [others]

    async def test_erasing_keeps_service_accounts(self, store: Store) -> None:
        await store.accounts.add(account := an_account())

        await store.erase(Scope(project_id=PROJECT))

        assert await store.accounts.list(PROJECT) == [account]

    async def test_erasing_nobody_counts_nothing(self, store: Store) -> None:
        assert set((await store.erase(a_scope())).values()) == {0}


class DurableStoreContract:
    """For stores that outlive their process. A subclass provides the fixture `store`."""

    async def test_everything_is_there_after_a_restart(self, store: Store) -> None:
        await fill(store)
        before = await fingerprint(store)

        await store.close()
        await store.open()

        assert await fingerprint(store) == before

    async def test_a_claim_survives_a_restart(self, store: Store) -> None:
        known = await fill(store)

        await store.close()
        await store.open()

        kinds = [JobKind.EXTRACT]
        assert (
            await store.jobs.claim(worker="w2", kinds=kinds, now=START, lease_until=LATER) is None
        )
        await store.jobs.complete(known.job, result={}, now=START)
