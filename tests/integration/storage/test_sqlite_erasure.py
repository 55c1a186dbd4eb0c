"""Erasing leaves no row behind in any table, and nothing to be read in the files."""

import asyncio
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from memory_server.domain.scope import Scope
from memory_server.errors import StorageUnavailable
from memory_server.ports.memories import Add
from memory_server.ports.store import Store
from memory_server.search.local.predicates import Predicate
from memory_server.storage.sqlite import SqliteStore, erasure
from tests.conformance.isolation import fill
from tests.factories import (
    PROJECT,
    SESSION,
    SPACE,
    USER,
    a_fact,
    a_job,
    a_memory,
    a_scope,
    a_turn,
    a_vector,
)
from tests.integration.storage.sqlite_stores import InFile, InMemory

_KEPT = {"accounts", "erasures", "heartbeat", "spaces", "sqlite_sequence"}


def filled_tables(connection: sqlite3.Connection) -> set[str]:
    """Return the tables that hold rows; what FTS5 keeps for itself apart from its documents."""
    names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    tables = {name for (name,) in names if not name.startswith("words_")} - _KEPT
    return {
        name
        for name in tables
        if connection.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone()  # noqa: S608 our tables
    }


SECRET = "xyzzyplugh"


async def keep_secrets(store: Store, user_id: str) -> None:
    """Store a secret often enough that the tables have split their pages."""
    for number in range(150):
        secret = f"{SECRET} {SECRET}{number} of {user_id}"
        await store.turns.append(
            a_turn(content=secret, user_id=user_id, session_id=f"{SECRET}-{number % 3}")
        )
        memory = a_memory(body=a_fact(text=secret), id=f"{user_id}-{number}", user_id=user_id)
        await store.memories.apply(PROJECT, [Add(memory=memory)])


def read_from(directory: Path) -> bytes:
    """Return all that the files of a store hold, in lower case as words are indexed."""
    return b"".join(file.read_bytes() for file in directory.iterdir()).lower()


async def a_lot(store: Store, turns: int, memories: int, sessions: int = 1) -> None:
    for number in range(turns):
        turn = a_turn(session_id=f"s{number % sessions}", idempotency_key=f"k{number}")
        await store.turns.append(turn, vector=a_vector(1), space=SPACE)
    new = [Add(memory=a_memory(id=f"m{n}"), vector=a_vector(1)) for n in range(memories)]
    await store.memories.apply(PROJECT, new, space=SPACE)


def left_of(user_id: str, connection: sqlite3.Connection) -> dict[str, int]:
    tables = ("turns", "snapshots", "jobs", "memories", "documents", "sessions", "partitions")
    counted = {
        name: connection.execute(
            f"SELECT count(*) FROM {name} WHERE user_id = ?",  # noqa: S608 our tables
            (user_id,),
        ).fetchone()[0]
        for name in tables
    }
    return {name: count for name, count in counted.items() if count}


class TestErasure(InFile):
    async def test_an_erased_user_cannot_be_read_from_the_files(
        self, store: Store, tmp_path: Path
    ) -> None:
        await keep_secrets(store, "the-erased")
        for number in range(150):
            await store.turns.append(
                a_turn(content="stays", user_id=f"the-{number}", session_id=f"{number}")
            )
        kept = read_from(tmp_path / "data")
        assert SECRET.encode() in kept
        assert b"the-erased" in kept

        await store.erase(a_scope(user_id="the-erased"))

        left = read_from(tmp_path / "data")
        assert SECRET[:6].encode() not in left
        assert b"the-erased" not in left
        assert b"stays" in left

    async def test_traces_that_a_reader_holds_are_told_of_and_go_with_the_next_call(
        self, store: Store, tmp_path: Path
    ) -> None:
        assert isinstance(store, SqliteStore)
        await keep_secrets(store, "ana")
        await store._database.write(lambda db: db.execute("PRAGMA busy_timeout = 0").fetchall())
        with closing(sqlite3.connect(tmp_path / "data" / "memory.db")) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT 1 FROM turns").fetchone()
            with pytest.raises(StorageUnavailable, match=r"all of it was erased.*erase once more"):
                await store.erase(a_scope(user_id="ana"))

        await store.erase(a_scope(user_id="ana"))

        assert SECRET[:6].encode() not in read_from(tmp_path / "data")

    async def test_an_erased_project_leaves_no_row(self, store: Store) -> None:
        assert isinstance(store, SqliteStore)
        await fill(store)
        assert len(await store._database.read(filled_tables)) >= 10

        await store.erase(Scope(project_id=PROJECT))

        assert await store._database.read(filled_tables) == set()

    async def test_an_erased_user_leaves_no_row_but_those_of_others(self, store: Store) -> None:
        assert isinstance(store, SqliteStore)
        await fill(store)
        await store.turns.append(a_turn(user_id="bob", session_id="bobs"))

        await store.erase(a_scope())

        left = await store._database.read(filled_tables)
        jobs = {"jobs", "job_owners", "job_counts"}
        assert left == {"document_counts", "documents", "sessions", "turns", "words", *jobs}


class TestPortions(InMemory):
    @pytest.fixture(autouse=True)
    def small_portions(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(erasure, "PORTION", 4)

    async def test_more_than_a_portion_goes_with_the_same_counts(self, store: Store) -> None:
        assert isinstance(store, SqliteStore)
        await a_lot(store, turns=21, memories=9, sessions=2)
        await store.turns.append(a_turn(session_id="s0", user_id="bob"))
        await store.jobs.enqueue([a_job(id=f"j{n}", key=f"j{n}") for n in range(10)])

        counts = await store.erase(a_scope())

        wanted = {"turns": 21, "memories": 9, "jobs": 10, "sessions": 1, "idempotency_keys": 21}
        assert counts.items() >= wanted.items()
        assert (counts["vectors"], counts["index_entries"]) == (30, 30)
        assert await store._database.read(lambda db: left_of(USER, db)) == {}
        session = await store.snapshots.session(PROJECT, "s0")
        assert session is not None
        assert (session.user_id, session.promoted_seq) == ("bob", session.last_seq - 1)

    async def test_an_erasure_that_was_broken_off_is_completed_by_the_same_call(
        self, store: Store
    ) -> None:
        assert isinstance(store, SqliteStore)
        await a_lot(store, turns=21, memories=9, sessions=3)

        going = asyncio.create_task(store.erase(a_scope()))
        while len(await store.turns.recent(a_scope(), limit=99)) > 15:  # noqa: ASYNC110 nobody tells
            await asyncio.sleep(0)
        going.cancel()
        await asyncio.wait({going})
        assert await store._database.read(lambda db: left_of(USER, db)) != {}
        await store.erase(a_scope())

        assert await store._database.read(lambda db: left_of(USER, db)) == {}
        assert await store._database.read(filled_tables) == set()

    async def test_others_write_while_somebody_is_erased(self, store: Store) -> None:
        await a_lot(store, turns=60, memories=0)

        going = asyncio.create_task(store.erase(a_scope()))
        await asyncio.sleep(0)
        await store.turns.append(a_turn(user_id="bob", session_id="bobs"))
        left = await store.turns.recent(a_scope(), limit=99)
        await going

        assert left
        assert await store.turns.recent(a_scope(), limit=99) == []
        assert len(await store.turns.recent(a_scope(user_id="bob"), limit=99)) == 1

    async def test_a_portion_leaves_the_index_of_words_at_once(self, store: Store) -> None:
        """One after the other takes a hundred times as long: see `documents.remove`."""
        assert isinstance(store, SqliteStore)
        await a_lot(store, turns=8, memories=0)
        said: Counter[str] = Counter()
        await store._database.write(lambda db: db.set_trace_callback(lambda s: said.update([s])))

        await store.erase(a_scope())

        assert sum(n for text, n in said.items() if text.startswith("DELETE FROM words ")) == 2

    @pytest.mark.parametrize(
        "statement", ["delete_jobs", "delete_turns", "delete_memories", "delete_snapshots"]
    )
    async def test_a_portion_is_looked_up_and_not_searched_for(
        self, store: Store, statement: str
    ) -> None:
        assert isinstance(store, SqliteStore)
        owned = Predicate("e")
        owned.within(a_scope())
        values = {**owned.values, "project_id": PROJECT, "keys": "[]", "session_id": SESSION}
        asked = f"EXPLAIN QUERY PLAN {owned.fill(erasure.SQL[statement])}"

        plan = await store._database.read(lambda db: db.execute(asked, values).fetchall())

        assert "(rowid=?)" in plan[0]["detail"] or "id=?)" in plan[0]["detail"]
