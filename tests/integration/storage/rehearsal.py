"""Databases as every schema version left them: `schemas/NNNN.sql`, one dump for each step.

    python -m tests.integration.storage.rehearsal

writes the dumps that are missing. A dump that is there is never written anew: it is what users
have on their disks. What a version did not know yet is not in its dump.
"""

import asyncio
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from memory_server.domain.account import AccountRole
from memory_server.domain.job import JobKind
from memory_server.domain.memory import Memory
from memory_server.domain.spending import Usage
from memory_server.ports.memories import Add, Replace
from memory_server.ports.store import Store
from memory_server.storage.sqlite import SqliteStore
from memory_server.storage.sqlite.connection import open_writer
from memory_server.storage.sqlite.schema import migrate, migrations
from tests.clock import START, ManualClock
from tests.factories import (
    PROJECT,
    SESSION,
    SPACE,
    USER,
    a_block,
    a_fact,
    a_job,
    a_login,
    a_member,
    a_memory,
    a_project,
    a_proposal,
    a_record,
    a_snapshot,
    a_turn,
    a_vector,
    an_account,
    an_episode,
)

DIRECTORY = Path(__file__).parent / "schemas"
LATER = START + timedelta(hours=1)
USAGE = Usage(calls=2, input_tokens=300, output_tokens=40)
JOBS = ("job-failed", "job-queued")


def path_of(version: int) -> Path:
    """Return where the dump of a version is."""
    return DIRECTORY / f"{version:04}.sql"


def restore(version: int, path: Path) -> None:
    """Make a database of that version, with what is in its dump."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(path_of(version).read_text("utf-8"))


def former() -> Memory:
    """What Ana's home was before it changed."""
    return a_memory(id="home", body=a_fact(text="Ana lives in Porto"), identity_key="home")


async def fill(store: Store) -> None:
    """Store something of every kind, everything under names of its own."""
    await store.projects.add(a_project(id=PROJECT, name=PROJECT))
    for number, text in enumerate(("I moved to Lisbon", "The weather is fine", "And yours?")):
        turn = a_turn(text, id=f"turn-{number}", idempotency_key=f"key-{number}")
        await store.turns.append(turn, vector=a_vector(1, number), space=SPACE)
    await store.snapshots.promote(
        a_snapshot(1, 2, id="snapshot"), [a_job(id=name, key=name) for name in JOBS]
    )
    job = await store.jobs.claim(worker="w", kinds=[JobKind.EXTRACT], now=START, lease_until=LATER)
    assert job is not None
    await store.jobs.fail(job, code="KEY_MISSING", reason="no key", now=START)
    await store.memories.apply(PROJECT, [Add(memory=former(), vector=a_vector(0, 1))], space=SPACE)
    await _change_home(store)
    others = [
        a_memory(id="move", body=an_episode(title="Moving", content="Ana moved to Lisbon")),
        a_memory(id="pump", body=a_record(custom_type="ticket", content="The Lisbon pump leaks")),
        a_memory(id="exchange.user", body=a_block(), session_id=SESSION),
    ]
    new = [Add(memory=memory, vector=a_vector(0, 0, 1)) for memory in others]
    await store.memories.apply(PROJECT, new, space=SPACE)
    await store.jobs.enqueue([a_job(id="job-done", key="job-done", user_id="bob")])
    done = await store.jobs.claim(worker="w", kinds=[JobKind.EXTRACT], now=START, lease_until=LATER)
    assert done is not None
    await store.proposals.add(PROJECT, [a_proposal(id="porto", key="porto")], settling=done)
    await store.accounts.add(an_account(client_id="client", name="importer"))
    organization = {"project_id": None, "role": AccountRole.ORG_READ_ONLY}
    await store.accounts.add(an_account(client_id="of-all", name="auditor", **organization))
    await store.members.add(member := a_member(user_id=USER))
    await store.members.begin(a_login(id="login"), of=member, now=START, most=5)
    await store.spending.add(PROJECT, USAGE, at=START)


def dump(source: sqlite3.Connection, version: int) -> str:
    """Return a database of that version, with what of the source it could hold, as SQL."""
    with closing(open_writer(None)) as target:
        migrate(target, migrations()[:version], "rehearsal")
        lines = [
            *_statements(target, "type = 'table'"),
            *(line for table in _tables(target) for line in _rows(source, target, table)),
            *_statements(target, "type <> 'table'"),
        ]
        sequences = source.execute("SELECT name, seq FROM sqlite_sequence ORDER BY name").fetchall()
        for name, last in sequences:
            where = f"WHERE name = '{name}'"
            lines.append(f"UPDATE sqlite_sequence SET seq = {last} {where};")  # noqa: S608 our own tables
        return "\n".join(["BEGIN;", *lines, f"PRAGMA user_version = {version};", "COMMIT;", ""])


async def _change_home(store: Store) -> None:
    changed = replace(
        former(),
        body=a_fact(text="Ana lives in Lisbon"),
        updated_at=LATER,
        valid_from=LATER,
        revision=2,
        version=2,
        supersedes="home-before",
    )
    change = Replace(memory=changed, former_id="home-before", vector=a_vector(0, 2))
    await store.memories.apply(PROJECT, [change], space=SPACE)


def _tables(connection: sqlite3.Connection) -> Iterator[str]:
    """Yield the tables that hold rows of ours; what FTS5 keeps for itself comes with its table."""
    found = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    for (name,) in found:
        if not name.startswith(("words_", "sqlite_")):
            yield name


def _statements(connection: sqlite3.Connection, which: str) -> Iterator[str]:
    found = connection.execute(
        f"SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND {which}"  # noqa: S608 our own words
    )
    for name, sql in found:
        if not name.startswith(("words_", "sqlite_")):
            yield f"{sql};"


def _rows(source: sqlite3.Connection, target: sqlite3.Connection, table: str) -> Iterator[str]:
    """Yield the rows of a table that the version can hold, as statements."""
    known = _columns(source, table)
    required = {row[1] for row in target.execute(f"PRAGMA table_info({table})") if row[3]}
    columns = sorted(known & _columns(target, table)) + (["rowid"] if table == "words" else [])
    if not known:
        return
    kept = " AND ".join(f"{name} IS NOT NULL" for name in sorted(required & known)) or "1"
    quoted = " || ', ' || ".join(f"quote({name})" for name in columns)
    rows = source.execute(f"SELECT {quoted} FROM {table} WHERE {kept}")  # noqa: S608 our own tables
    for (values,) in rows:
        yield f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({values});"  # noqa: S608 our own tables


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}


async def _filled(path: Path) -> None:
    store = SqliteStore(path, clock=ManualClock())
    await store.open()
    await fill(store)
    await store.close()


def main() -> None:
    """Write the dumps that are missing."""
    missing = [step.number for step in migrations() if not path_of(step.number).exists()]
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "data" / "memory.db"
        asyncio.run(_filled(path))
        with closing(sqlite3.connect(path)) as source:
            for version in missing:
                path_of(version).write_text(dump(source, version), "utf-8")


if __name__ == "__main__":
    main()
