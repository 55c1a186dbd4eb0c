"""Erasing leaves no row behind in any table, and nothing to be read in the files."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memory_server.domain.scope import Scope
from memory_server.errors import StorageUnavailable
from memory_server.ports.memories import Add
from memory_server.ports.store import Store
from memory_server.storage.sqlite import SqliteStore
from tests.conformance.isolation import fill
from tests.factories import PROJECT, a_fact, a_memory, a_scope, a_turn
from tests.integration.storage.sqlite_stores import InFile

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
        assert left == {"document_counts", "documents", "sessions", "turns", "words"}
