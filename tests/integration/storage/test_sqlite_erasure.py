"""Erasing leaves no row behind in any table."""

import sqlite3

from memory_server.domain.scope import Scope
from memory_server.ports.store import Store
from memory_server.storage.sqlite import SqliteStore
from tests.conformance.isolation import fill
from tests.factories import PROJECT, a_scope, a_turn
from tests.integration.storage.sqlite_stores import InFile

_KEPT = {"accounts", "heartbeat", "sqlite_sequence"}


def filled_tables(connection: sqlite3.Connection) -> set[str]:
    """Return the tables that hold rows; what FTS5 keeps for itself apart from its documents."""
    names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    tables = {name for (name,) in names if not name.startswith("words_")} - _KEPT
    return {
        name
        for name in tables
        if connection.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone()  # noqa: S608 our tables
    }


class TestErasure(InFile):
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
