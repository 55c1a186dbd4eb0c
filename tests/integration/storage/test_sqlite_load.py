"""What is asked or done again and again stays cheap, and lets others have their turn."""

import asyncio
import json
import sqlite3
from collections.abc import Sequence
from datetime import timedelta
from itertools import count
from threading import Thread, current_thread, main_thread
from typing import Any

import pytest

from memory_server.domain.chunk import Source
from memory_server.domain.job import JobKind
from memory_server.domain.scope import Scope
from memory_server.ports.memories import Add, Erase, MemoryQuery, Replace
from memory_server.ports.search import Selection
from memory_server.ports.store import Store
from memory_server.search.local import documents, vectors
from memory_server.search.local.predicates import Predicate, selected
from memory_server.storage.sqlite import SqliteStore, jobs, memory_changes, snapshots, turns
from memory_server.storage.sqlite.snapshots import PORTION
from tests.clock import START
from tests.conformance.isolation import fill
from tests.factories import (
    PROJECT,
    SESSION,
    SPACE,
    a_job,
    a_memory,
    a_scope,
    a_snapshot,
    a_turn,
    a_vector,
)
from tests.integration.storage.sqlite_stores import InFile, InMemory

LATER = START + timedelta(hours=1)

LARGE = {"jobs", "turns", "documents", "partitions", "memories", "vector_places"}
"""Tables that grow with use: what is asked at each poll must not read them from end to end."""

POLLED = {
    "jobs.counts": jobs.SQL["counts"],
    "jobs.next_due": jobs.SQL["next_due"],
    "jobs.abandon": jobs.SQL["abandon"],
    "jobs.next": jobs.SQL["next"],
    "jobs.list": jobs.SQL["list"],
    "jobs.list_of_state": jobs.SQL["list_of_state"],
    "snapshots.waiting": snapshots.SQL["waiting"],
    "snapshots.old_jobs": snapshots.SQL["old_jobs"],
    "search.sizes": documents.SQL["sizes"],
    "search.scanned": vectors.SQL["scanned"].replace("/* conditions */ 1", "p.project_id = 'p'"),
}


def opened(store: Store) -> SqliteStore:
    """Return the store for a look inside."""
    assert isinstance(store, SqliteStore)
    return store


async def plan_of(store: Store, statement: str) -> list[str]:
    """Return how SQLite goes about a statement."""

    class AnyValue(dict[str, Any]):
        def __missing__(self, key: str) -> None:
            return None

    def explain(connection: sqlite3.Connection) -> list[str]:
        rows = connection.execute(f"EXPLAIN QUERY PLAN {statement}", AnyValue())
        return [row["detail"] for row in rows]

    return await opened(store)._database.write(explain)


async def counted(store: Store) -> dict[str, int]:
    """Count what the index says it holds, the slow way."""

    def count(connection: sqlite3.Connection) -> dict[str, int]:
        (found,) = connection.execute("SELECT count(*) FROM documents").fetchone()
        places = connection.execute("SELECT count(*), count(DISTINCT space) FROM vector_places")
        in_all, spaces = places.fetchone()
        return {"documents": found, "vectors": in_all, "spaces": spaces}

    return await opened(store)._database.write(count)


async def described(store: Store) -> dict[str, int]:
    """Return what the index says it holds."""
    said = await store.search.describe()
    return {name: said[name] for name in ("documents", "vectors", "spaces")}


async def promoted(store: Store, turns: int) -> None:
    """Record turns that are all of one settled snapshot."""
    await asyncio.gather(*(store.turns.append(a_turn()) for _ in range(turns)))
    await store.snapshots.promote(a_snapshot(1, turns), [])


async def commits(store: Store) -> list[str]:
    """Return a list to which every commit of the writer is added."""
    seen: list[str] = []

    def note(statement: str) -> None:
        if statement == "COMMIT":
            seen.append(statement)

    await opened(store)._database.write(lambda db: db.set_trace_callback(note))
    seen.clear()
    return seen


class TestPolling(InFile):
    @pytest.mark.parametrize("statement", POLLED.values(), ids=POLLED)
    async def test_no_poll_reads_a_whole_table(self, store: Store, statement: str) -> None:
        plan = await plan_of(store, statement)

        words = [detail.split() for detail in plan if detail.startswith("SCAN")]
        tables = {"j": "jobs", "t": "turns", "p": "partitions", "d": "documents"}
        assert not {tables.get(word[1], word[1]) for word in words} & LARGE, plan

    @pytest.mark.parametrize("owner", [{}, {"user_id": "ana"}, {"userless": True}])
    @pytest.mark.parametrize("read", ["memories", "turns", "documents"])
    async def test_what_is_known_by_id_is_looked_up_by_id(
        self, store: Store, read: str, owner: dict[str, Any]
    ) -> None:
        """Else all that the owner has is read to return a few."""
        scope = Scope(project_id=PROJECT, **owner)
        of_memories = Predicate("m")
        of_memories.within(scope)
        of_memories.among("id", ["one"])
        found = selected(Selection(scope=scope, source=Source.SEMANTIC, limit=1))
        statements = {
            "memories": of_memories.fill(memory_changes.SQL["get"]),
            "turns": turns.SQL["get_many"],
            "documents": found.fill(documents.SQL["ids"]),
        }

        plan = await plan_of(store, statements[read])

        (step,) = [detail for detail in plan if detail.startswith("SEARCH")]
        assert step.endswith((" AND id=?)", "(rowid=?)")), plan

    async def test_a_lookup_of_nobodys_uses_an_index(self, store: Store) -> None:
        statement = "SELECT * FROM memories AS m WHERE m.project_id = 'p' AND m.user_id IS NULL"

        (plan,) = await plan_of(store, f"{statement} AND m.type = 'semantic'")

        assert "user_id=?" in plan


class SizesOfIndex:
    async def test_what_the_index_says_of_itself_is_true_whatever_happens(
        self, store: Store
    ) -> None:
        known = await fill(store)
        memory = a_memory()
        new = a_memory(id=memory.id, revision=2, version=2)
        add = Add(memory=memory, vector=a_vector(1))
        replace = Replace(memory=new, former_id="former", vector=a_vector(0, 1))
        for operations in ([add], [replace], [Erase(memory_id=known.memory.id)]):
            await store.memories.apply(PROJECT, operations, space=SPACE)
            assert await described(store) == await counted(store)

        await store.erase(a_scope())
        assert await described(store) == {"documents": 0, "vectors": 0, "spaces": 0}

    async def test_what_goes_with_promoted_turns_is_counted_out(self, store: Store) -> None:
        await store.turns.append(a_turn(), vector=a_vector(1), space=SPACE)
        await store.turns.append(a_turn(), vector=a_vector(1), space=SPACE)
        await store.snapshots.promote(a_snapshot(1, 1), [])

        await store.snapshots.delete_promoted_turns(limit=9)

        assert await described(store) == {"documents": 1, "vectors": 1, "spaces": 1}


class TestSizesInFile(InFile, SizesOfIndex):
    pass


class TestSizesInMemory(InMemory, SizesOfIndex):
    pass


class DeletionInPortions:
    async def test_expiry_is_written_in_portions(self, store: Store) -> None:
        await promoted(store, 2 * PORTION + 1)
        seen = await commits(store)

        assert await store.snapshots.expire(before=LATER, limit=9) == 1

        assert len(seen) >= 4
        left = await store.turns.run(PROJECT, SESSION, first_seq=1, last_seq=10_000)
        assert left == []

    async def test_promoted_turns_go_in_portions(self, store: Store) -> None:
        await promoted(store, 2 * PORTION + 1)
        seen = await commits(store)

        assert await store.snapshots.delete_promoted_turns(limit=1000) == 2 * PORTION + 1

        assert len(seen) >= 3

    async def test_an_expiry_that_was_interrupted_is_finished_by_the_next(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await promoted(store, 3)
        delete, number = snapshots._delete_turns, count()

        def broken(found: Sequence[Any], connection: sqlite3.Connection) -> int:
            if next(number):
                raise RuntimeError
            return delete(found, connection)

        monkeypatch.setattr(snapshots, "PORTION", 2)
        monkeypatch.setattr(snapshots, "_delete_turns", broken)
        with pytest.raises(RuntimeError):
            await store.snapshots.expire(before=LATER, limit=9)
        monkeypatch.undo()

        assert await store.snapshots.expire(before=LATER, limit=9) == 1


class TestPortionsInFile(InFile, DeletionInPortions):
    pass


class TestPortionsInMemory(InMemory, DeletionInPortions):
    pass


class TestManyJobs(InFile):
    async def test_a_claim_looks_at_few_of_many_jobs(self, store: Store) -> None:
        """Counted in steps of SQLite's machine, not in time."""
        embed = [a_job(kind=JobKind.EMBED) for _ in range(300)]
        await store.jobs.enqueue([*embed, *(a_job(user_id=f"{n}") for n in range(300))])
        steps = await self._steps(store)

        job = await store.jobs.claim(worker="w", kinds=list(JobKind), now=START, lease_until=LATER)

        assert job is not None
        assert len(steps) < 40

    async def _steps(self, store: Store) -> list[None]:
        steps: list[None] = []

        def watch(connection: sqlite3.Connection) -> None:
            connection.set_progress_handler(lambda: steps.append(None), 100)

        await opened(store)._database.write(watch)
        return steps


class TestUnreadableRows(InFile):
    async def test_moments_stored_by_a_former_version_can_be_read(self, store: Store) -> None:
        turn = await store.turns.append(a_turn(event_time=START))
        memory = a_memory(valid_to=START)
        await store.memories.apply(PROJECT, [Add(memory=memory, vector=a_vector(1))], space=SPACE)

        def spoil(connection: sqlite3.Connection) -> None:
            connection.execute("UPDATE turns SET event_time = '0001-01-01T00:00:00+14:00'")
            connection.execute(
                "UPDATE memories SET valid_from = -62135647200000000, valid_to = 253402344000000000"
            )

        await opened(store)._database.write(spoil)

        (read,) = await store.turns.get_many(PROJECT, [turn.id])
        assert read.event_time is not None
        assert read.event_time.astimezone(START.tzinfo).year == 2
        (found,) = await store.memories.find(a_scope(), MemoryQuery())
        assert (found.valid_from.year, found.valid_to and found.valid_to.year) == (2, 9998)

    async def test_rows_are_decoded_beside_the_event_loop(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        turn = await store.turns.append(a_turn())
        await store.memories.apply(PROJECT, [Add(memory=a_memory())])
        await store.jobs.enqueue([a_job()])
        threads: set[Thread] = set()
        real = json.loads

        def parse(text: str) -> Any:
            threads.add(current_thread())
            return real(text)

        monkeypatch.setattr(json, "loads", parse)
        await store.turns.get_many(PROJECT, [turn.id])
        await store.turns.recent(a_scope(), limit=9)
        await store.memories.find(a_scope(), MemoryQuery())
        await store.jobs.list(PROJECT)

        assert threads
        assert main_thread() not in threads
