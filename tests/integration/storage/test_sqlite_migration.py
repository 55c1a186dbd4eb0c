"""A database of any earlier schema keeps what it holds, is searched, and is written to."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from memory_server.domain.chunk import Source
from memory_server.domain.job import JobState
from memory_server.domain.proposal import ProposalState
from memory_server.domain.scope import Scope
from memory_server.ports.memories import Add, MemoryQuery
from memory_server.ports.search import Selection
from memory_server.storage.sqlite.connection import open_writer
from memory_server.storage.sqlite.schema import migrate, migrations
from memory_server.storage.sqlite.store import SqliteStore
from tests.clock import START, ManualClock
from tests.factories import (
    PROJECT,
    SESSION,
    SPACE,
    USER,
    a_job,
    a_memory,
    a_scope,
    a_turn,
    a_vector,
)
from tests.integration.storage import rehearsal

VERSIONS = [step.number for step in migrations()]
WITH_RECORDS = [version for version in VERSIONS if version >= 2]
WITH_PEOPLE = [version for version in VERSIONS if version >= 4]
WITH_BLOCKS = [version for version in VERSIONS if version >= 8]
WITH_SPENDING = [version for version in VERSIONS if version >= 9]
WITH_PROPOSALS = [version for version in VERSIONS if version >= 10]
BLOCKS = {"exchange.user"}
TURNS = [f"turn-{number}" for number in range(3)]


@pytest.fixture
async def store(
    request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock
) -> AsyncIterator[SqliteStore]:
    """The store over a database of the version that the test asks for, as this program opens it."""
    path = tmp_path / "data" / "memory.db"
    rehearsal.restore(request.param, path)
    store = SqliteStore(path, clock=clock)
    await store.open()
    yield store
    await store.close()


def from_every(versions: list[int]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("store", versions, indirect=True)


def layout(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    """Return every table, index, view and trigger with its text, whatever its white space."""
    found = connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
    return {(name, " ".join(sql.split())) for name, sql in found if not name.startswith("words_")}


def test_every_step_has_been_rehearsed() -> None:
    """If this fails: python -m tests.integration.storage.rehearsal."""
    there = sorted(int(file.stem) for file in rehearsal.DIRECTORY.glob("*.sql"))

    assert there == VERSIONS


@pytest.mark.parametrize("version", VERSIONS)
def test_a_step_that_users_have_taken_is_not_changed_any_more(version: int, tmp_path: Path) -> None:
    rehearsal.restore(version, tmp_path / "memory.db")
    with (
        closing(sqlite3.connect(tmp_path / "memory.db")) as restored,
        closing(open_writer(None)) as stepped,
    ):
        migrate(stepped, migrations()[:version], "test")

        assert restored.execute("PRAGMA user_version").fetchone() == (version,)
        assert layout(restored) == layout(stepped)


@from_every(VERSIONS)
async def test_it_has_the_newest_schema_and_is_found_sound(
    store: SqliteStore, tmp_path: Path
) -> None:
    assert (await store.describe())["schema_version"] == VERSIONS[-1]
    await store.ping()
    await store.close()
    with (
        closing(sqlite3.connect(tmp_path / "data" / "memory.db")) as migrated,
        closing(open_writer(None)) as new,
    ):
        migrate(new, migrations(), "test")
        assert layout(migrated) == layout(new)
        assert migrated.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@from_every(VERSIONS)
async def test_search_finds_what_was_indexed_by_words_and_by_meaning(store: SqliteStore) -> None:
    facts = Selection(scope=a_scope(), source=Source.SEMANTIC, limit=5)
    turns = Selection(scope=a_scope(), source=Source.STM, limit=5)

    assert [hit.id for hit in await store.search.text(facts, ["lisbon"])] == ["home"]
    assert [hit.id for hit in await store.search.vector(facts, a_vector(0, 2), SPACE)] == ["home"]
    assert [hit.id for hit in await store.search.text(turns, ["lisbon"])] == TURNS
    assert {hit.id for hit in await store.search.vector(turns, a_vector(1), SPACE)} == {*TURNS}


@from_every(WITH_RECORDS)
async def test_every_port_reads_what_was_there(store: SqliteStore) -> None:
    turns = await store.turns.run(PROJECT, SESSION, first_seq=1, last_seq=9)
    assert [turn.id for turn in turns] == TURNS
    assert turns[0].content == "I moved to Lisbon"
    session = await store.snapshots.session(PROJECT, SESSION)
    assert session is not None
    assert (session.last_seq, session.promoted_seq, session.user_id) == (3, 2, USER)
    snapshot = await store.snapshots.get(PROJECT, "snapshot")
    assert (snapshot.first_seq, snapshot.last_seq) == (1, 2)
    jobs = {job.id: job.state for job in await store.jobs.list(PROJECT)}
    assert jobs.pop("job-done", JobState.DONE) is JobState.DONE
    assert jobs == dict(zip(rehearsal.JOBS, (JobState.FAILED, JobState.QUEUED), strict=True))
    memories = await store.memories.find(a_scope(), MemoryQuery(include_superseded=True))
    assert {one.id for one in memories} - BLOCKS == {"home", "home-before", "move", "pump"}
    assert [one.client_id for one in await store.accounts.list(PROJECT)] == ["client"]
    assert await store.projects.find(PROJECT) is not None


@from_every(WITH_BLOCKS)
async def test_blocks_are_kept_and_found(store: SqliteStore) -> None:
    blocks = Selection(scope=a_scope(), source=Source.BLOCK, limit=5)

    assert {one.id for one in await store.memories.get_many(a_scope(), [*BLOCKS])} == BLOCKS
    assert {hit.id for hit in await store.search.text(blocks, ["lisbon"])} == BLOCKS


@from_every(WITH_SPENDING)
async def test_what_was_taken_of_models_is_kept(store: SqliteStore) -> None:
    taken = await store.spending.read(PROJECT, since=START, before=rehearsal.LATER)

    assert taken == rehearsal.USAGE


@from_every(WITH_PROPOSALS)
async def test_what_waits_for_a_decision_waits_on(store: SqliteStore) -> None:
    waiting = await store.proposals.get(Scope(project_id=PROJECT), "porto")

    assert waiting.state is ProposalState.PENDING


@from_every(WITH_PEOPLE)
async def test_people_and_the_organization_are_kept(store: SqliteStore) -> None:
    assert [member.user_id for member in await store.members.list(PROJECT)] == [USER]
    assert await store.members.login("login") is not None
    assert [one.client_id for one in await store.accounts.list(None)] == ["of-all"]


@from_every(WITH_RECORDS)
async def test_work_goes_on_where_it_stood(store: SqliteStore, clock: ManualClock) -> None:
    turn = await store.turns.append(a_turn("again", id="new"))
    known = await store.turns.append(a_turn(id="other", idempotency_key="key-1"))
    new = a_memory(id="new-fact", identity_key="new")
    await store.memories.apply(PROJECT, [Add(memory=new, vector=a_vector(1))], space=SPACE)
    claimed = await store.jobs.claim(
        worker="w", kinds=[a_job().kind], now=START, lease_until=rehearsal.LATER
    )

    assert (turn.turn_seq, known.id) == (4, "turn-1")
    assert claimed is not None
    assert claimed.id == "job-queued"
    assert (await store.erase(Scope(project_id=PROJECT)))["turns"] == 4
    assert await store.memories.find(a_scope(), MemoryQuery(include_superseded=True)) == []
