"""The database file: crashes, owners, modes, damage, and newer programs."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memory_server.domain.chunk import Source
from memory_server.domain.job import JobKind
from memory_server.errors import (
    SchemaTooNew,
    StorageCorrupt,
    StorageLocked,
    StorageUnavailable,
)
from memory_server.ports.search import Selection
from memory_server.storage.sqlite import SqliteStore
from tests.clock import ManualClock
from tests.factories import PROJECT, SESSION, SPACE, a_job, a_scope, a_turn, a_vector

WRITER = "tests.integration.storage.crash_writer"
ROOT = Path(__file__).parents[3]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "memory.db"


@pytest.fixture
def store(path: Path, clock: ManualClock) -> SqliteStore:
    """A store that is not open yet."""
    return SqliteStore(path, clock=clock)


def read(path: Path) -> bytes:
    return path.read_bytes()


def spoil(path: Path) -> None:
    """Put something that is no database in the database's place."""
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"certainly not a database" * 100)


def move_away(path: Path) -> None:
    path.rename(path.with_name("moved-away"))


def damage(path: Path) -> None:
    """Overwrite all of the database but its first page."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))


def kill_a_writer(path: Path, *, after: int) -> list[str]:
    """Kill a writing process with SIGKILL; return the ids of the turns it acknowledged."""
    command = [sys.executable, "-m", WRITER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:  # noqa: S603 our own program
        assert process.stdout is not None
        acknowledged = [process.stdout.readline().strip() for _ in range(after)]
        process.send_signal(signal.SIGKILL)
        acknowledged += process.stdout.read().split("\n")[:-1]
    assert process.returncode == -signal.SIGKILL
    return acknowledged


@pytest.mark.parametrize("after", [1, 40, 400])
async def test_a_killed_process_loses_no_acknowledged_turn(
    path: Path, store: SqliteStore, after: int
) -> None:
    acknowledged = kill_a_writer(path, after=after)

    await store.open()

    found = await store.turns.get_many(PROJECT, acknowledged)
    assert len(acknowledged) >= after
    assert [turn.id for turn in found] == acknowledged
    await store.close()


async def test_after_a_crash_numbers_words_and_vectors_agree(
    path: Path, store: SqliteStore
) -> None:
    kill_a_writer(path, after=100)
    await store.open()

    for client in range(8):
        session = f"session {client}"
        turns = await store.turns.run(PROJECT, session, first_seq=1, last_seq=10_000)
        assert [turn.turn_seq for turn in turns] == list(range(1, len(turns) + 1))
        scope = a_scope(session_id=session)
        selection = Selection(scope=scope, source=Source.STM, limit=10_000)
        words = await store.search.text(selection, ["lisbon"])
        vectors = await store.search.vector(selection, a_vector(1), SPACE)
        expected = {turn.id for turn in turns}
        assert {hit.id for hit in words} == {hit.id for hit in vectors} == expected
    await store.close()


async def test_a_second_server_is_told_who_has_the_store(
    path: Path, store: SqliteStore, clock: ManualClock
) -> None:
    await store.open()

    with pytest.raises(StorageLocked, match=f"process {os.getpid()} "):
        await SqliteStore(path, clock=clock).open()

    assert (await store.turns.append(a_turn())).turn_seq == 1
    await store.close()


async def test_a_closed_store_can_be_opened_by_another_server(
    path: Path, store: SqliteStore, clock: ManualClock
) -> None:
    await store.open()
    await store.close()

    other = SqliteStore(path, clock=clock)
    await other.open()
    await other.close()


async def test_work_of_a_process_that_is_gone_waits_for_no_lease_to_end(
    path: Path, clock: ManualClock
) -> None:
    now, later = clock.now(), clock.now() + timedelta(hours=1)
    claim: dict[str, Any] = {"kinds": [JobKind.EXTRACT], "now": now, "lease_until": later}
    before, after = SqliteStore(path, clock=clock), SqliteStore(path, clock=clock)
    await before.open()
    await before.jobs.enqueue([a_job(due_at=now)])
    assert await before.jobs.claim(worker="w1", **claim) is not None
    assert await before.jobs.claim(worker="w2", **claim) is None
    await before.close()

    await after.open()
    await after.take_over()
    claimed = await after.jobs.claim(worker="w2", **claim)
    await after.close()

    assert claimed is not None
    assert (claimed.lease_owner, claimed.attempts) == ("w2", 2)


async def test_the_files_are_for_their_owner_alone(path: Path, store: SqliteStore) -> None:
    await store.open()
    await store.turns.append(a_turn())

    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    await store.close()

    names = ("memory.db", "memory.db-shm", "memory.db-wal", "memory.db.lock")
    assert modes == dict.fromkeys(names, 0o600)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


async def test_a_database_of_a_newer_program_is_refused_and_left_alone(
    path: Path, store: SqliteStore
) -> None:
    await store.open()
    await store.close()
    with sqlite3.connect(path) as newer:
        newer.execute("PRAGMA user_version = 9999")
    newer.close()
    content = read(path)

    with pytest.raises(SchemaTooNew, match="version 9999"):
        await store.open()

    assert read(path) == content


async def test_a_file_that_is_no_database_is_corrupt(path: Path, store: SqliteStore) -> None:
    spoil(path)

    with pytest.raises(StorageCorrupt, match=r"memory\.db: .*backup"):
        await store.open()


async def test_damage_inside_the_file_is_corrupt(path: Path, store: SqliteStore) -> None:
    await store.open()
    for _ in range(50):
        await store.turns.append(a_turn("x" * 2000))
    await store.close()
    damage(path)

    with pytest.raises(StorageCorrupt):
        await open_and_read(store)
    await store.close()


async def test_a_place_that_cannot_be_written_is_unavailable(
    tmp_path: Path, clock: ManualClock
) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(StorageUnavailable, match="file"):
        await SqliteStore(tmp_path / "file" / "memory.db", clock=clock).open()


async def open_and_read(store: SqliteStore) -> None:
    await store.open()
    await store.turns.recent(a_scope(session_id=SESSION), limit=50)


async def test_a_refused_store_lets_the_lock_go(path: Path, store: SqliteStore) -> None:
    spoil(path)
    with pytest.raises(StorageCorrupt):
        await store.open()
    move_away(path)

    await store.open()
    await store.close()


async def test_writes_are_durable_when_they_are_acknowledged(
    path: Path, store: SqliteStore
) -> None:
    await store.open()

    pragmas = await store._database.write(
        lambda db: [
            db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("synchronous", "journal_mode")
        ]
    )
    await store.close()

    assert pragmas == [2, "wal"]


async def test_reads_go_on_while_a_write_is_under_way(path: Path, store: SqliteStore) -> None:
    await store.open()
    turn = await store.turns.append(a_turn())
    held = sqlite3.connect(path, isolation_level=None)
    held.execute("BEGIN IMMEDIATE")

    assert await store.turns.get_many(PROJECT, [turn.id]) == [turn]

    held.close()
    await store.close()


async def test_a_store_reports_its_size_and_place(path: Path, store: SqliteStore) -> None:
    await store.open()

    described = await store.describe()
    await store.close()

    assert described["kind"] == "sqlite"
    assert described["location"] == str(path)
    assert described["size_bytes"] > 0
