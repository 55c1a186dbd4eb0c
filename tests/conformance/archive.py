"""What is taken out of a store comes back exactly, once, and not after its user was erased."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

from memory_server.domain.archive import (
    ArchivedJob,
    ArchivedMemory,
    ArchivedSession,
    ArchivedSnapshot,
    ArchivedTurn,
    Contents,
    Item,
    Outcome,
    id_of,
)
from memory_server.domain.archive_lines import item_line, item_of
from memory_server.domain.chunk import Source
from memory_server.domain.job import JobKind, JobState
from memory_server.domain.memory import Claim, EventTime, Evidence
from memory_server.domain.scope import Scope, Visibility
from memory_server.ports.archive import Reading
from memory_server.ports.memories import Add, MemoryQuery, Replace
from memory_server.ports.store import Store
from tests.clock import START
from tests.conformance.isolation import select, select_records
from tests.factories import (
    PROJECT,
    SESSION,
    SPACE,
    a_block,
    a_fact,
    a_job,
    a_memory,
    a_record,
    a_scope,
    a_snapshot,
    a_term,
    a_turn,
    a_vector,
    an_account,
    an_episode,
)

LATER = START + timedelta(hours=1)
PARIS = timezone(timedelta(hours=2))
SPOKEN = datetime(2023, 5, 8, 13, 56, 0, 123456, tzinfo=PARIS)
WHOLE = Contents(project_id=PROJECT, with_vectors=True)
ALL = MemoryQuery(include_deleted=True, include_superseded=True)


async def populate(store: Store) -> None:
    """Keep one of everything that an archive can hold, in all the states it can have."""
    await _talk(store)
    await _remember(store)
    lone = a_job(kind=JobKind.EMBED, payload={"memory_id": "m-live", "type": "semantic"})
    reading = {"memory_ids": ["m-block"], "type": "block"}
    await store.jobs.enqueue([lone, a_job(kind=JobKind.CONTEXT, payload=reading)])
    await store.accounts.add(an_account())
    await store.turns.append(a_turn("In another project", project_id="bank"))


async def _talk(store: Store) -> None:
    said = [
        a_turn(
            f"Said {number} of Lisbon",
            idempotency_key=f"key-{number}",
            created_at=START + timedelta(microseconds=number),
            event_time=SPOKEN,
            agent_id="planner",
            tokens=7,
            tool_calls=[{"name": "book", "arguments": {"seat": 1.5}}],
            metadata={"speaker": "Ana", "deep": {"n": [1, None, True]}},
        )
        for number in range(1, 7)
    ]
    for number, turn in enumerate(said):
        vector = a_vector(1, number) if number % 2 else None
        await store.turns.append(turn, vector=vector, space=SPACE)
    jobs = [a_job(), a_job(payload={"type": "episodic"}), a_job(payload={"type": "taxonomic"})]
    await store.snapshots.promote(a_snapshot(1, 4, agent_id="planner"), jobs)
    done, failed = [
        await store.jobs.claim(worker="w", kinds=[JobKind.EXTRACT], now=START, lease_until=LATER)
        for _ in range(2)
    ]
    assert done is not None
    assert failed is not None
    await store.jobs.complete(done, result={"added": 1}, now=START)
    await store.jobs.fail(failed, code="C", reason="r", now=START)
    await store.turns.append(a_turn("Bob waits", user_id="bob", session_id="bobs"))
    await store.turns.append(a_turn("Nobody waits", user_id=None, session_id="nobodys"))


async def _remember(store: Store) -> None:
    evidence = Evidence(
        snapshot_id="s",
        session_id=SESSION,
        turn_ids=("t-1", "t-2"),
        extractor="local 1",
        learned_at=START,
        event_time=SPOKEN,
        speakers=("Ana",),
    )
    live = a_memory(
        id="m-live",
        identity_key="i",
        claim=Claim(subject="ana", attribute="home", value="lisbon", exclusive=True),
        event_time=EventTime(start=SPOKEN, end=SPOKEN + timedelta(days=1), words="yesterday"),
        evidence=(evidence,),
        metadata={"b": 1, "a": {"x": 1.25}},
        contextual_metadata={"where": "chat"},
    )
    deleted = a_memory(id="m-deleted", body=an_episode(participants=("Ana", "Bob"), tags=("t",)))
    record = a_memory(id="m-record", body=a_record(tags={"a.b": 1, "open": True}))
    block = a_memory(
        id="m-block",
        body=a_block(annotations={"a.b": {"$x": 2**70}}, contexts=("Ana moved",)),
        session_id=SESSION,
    )
    org = a_memory(id="m-org", body=a_term(), visibility=Visibility.ORG, user_id="bob")
    await store.memories.apply(
        PROJECT,
        [
            Add(memory=live, vector=a_vector(1)),
            Add(memory=deleted, vector=a_vector(0, 1)),
            Add(memory=record, vector=a_vector(1, 1)),
            Add(memory=block, vector=a_vector(0, 0, 1)),
            Add(memory=org),
        ],
        space=SPACE,
    )
    changed = replace(
        live,
        body=a_fact(text="Ana lives in Porto"),
        version=2,
        revision=2,
        valid_from=LATER,
        updated_at=LATER,
        reinforcement_count=3,
    )
    gone = replace(deleted, deleted=True, revision=2, updated_at=LATER)
    await store.memories.apply(
        PROJECT,
        [
            Replace(memory=changed, former_id="m-former", vector=a_vector(0, 0, 1)),
            Replace(memory=replace(gone, version=2), former_id="m-deleted-former"),
        ],
        space=SPACE,
    )


@asynccontextmanager
async def reading(store: Store, contents: Contents) -> AsyncIterator[Reading]:
    """Begin to read, and let go."""
    begun = await store.archive.begin(contents)
    try:
        yield begun
    finally:
        await begun.close()


async def exported(store: Store, contents: Contents = WHOLE) -> list[Item]:
    """Return everything an archive would hold."""
    async with reading(store, contents) as begun:
        return [item async for portion in begun.portions() for item in portion]


async def moved(
    store: Store, items: Sequence[Item], to: str, *, dry_run: bool = False
) -> Sequence[Outcome]:
    """Take items into another project, through their lines."""
    lines = [item_line(item) for item in items]
    brought = [item_of(line, project_id=to, where="line") for line in lines]
    return await store.archive.write(to, brought, dry_run=dry_run)


async def held(store: Store, project_id: str) -> Any:
    """Return all that can be told of a project, but for its id."""
    scope = Scope(project_id=project_id)
    turns = [
        turn
        for session in (SESSION, "bobs", "nobodys")
        for turn in await store.turns.run(project_id, session, first_seq=1, last_seq=99)
    ]
    memories = await store.memories.find(scope, ALL)
    return {
        "turns": [_bare(one) for one in turns],
        "recent": [turn.id for turn in await store.turns.recent(scope, limit=99)],
        "sessions": [
            _bare(await store.snapshots.session(project_id, session))
            for session in (SESSION, "bobs", "nobodys")
        ],
        "memories": [_bare(one) for one in memories],
        "history": [one.id for one in await store.memories.history(scope, "m-live")],
        "jobs": sorted(
            repr(_bare(job))
            for job in await store.jobs.list(project_id)
            if job.state is not JobState.DONE
        ),
        "found": await _found(store, scope),
    }


async def _found(store: Store, scope: Scope) -> Any:
    sources = [*(select(scope, source) for source in Source), select_records(scope)]
    moments = (None, START + timedelta(minutes=1))
    selections = [replace(one, as_of=at) for one in sources for at in moments]
    return [
        (
            await store.search.text(one, ["lisbon", "porto", "waits"]),
            await store.search.vector(one, a_vector(1, 1), SPACE),
        )
        for one in selections
    ]


def _bare(value: Any) -> Any:
    return replace(value, project_id="", **_rested(value))


def _rested(value: Any) -> dict[str, Any]:
    running = getattr(value, "state", None) is JobState.RUNNING
    return {"state": JobState.QUEUED, "lease_owner": None, "lease_until": None} if running else {}


class ArchiveContract:
    """A subclass provides the fixtures `store`, open and empty, and `clock`, which it uses."""

    async def test_everything_of_a_project_comes_back_exactly(self, store: Store) -> None:
        await populate(store)
        items = await exported(store)

        outcomes = await moved(store, items, "copy")

        assert set(outcomes) == {Outcome.NEW}
        assert await held(store, "copy") == await held(store, PROJECT)

    async def test_an_archive_of_a_copy_is_the_archive(self, store: Store) -> None:
        await populate(store)
        items = await exported(store)

        await moved(store, items, "copy")

        again = await exported(store, replace(WHOLE, project_id="copy"))
        assert [item_line(one) for one in again] == [item_line(one) for one in items]

    async def test_taking_it_in_again_changes_nothing(self, store: Store) -> None:
        await populate(store)
        items = await exported(store)
        await moved(store, items, "copy")
        before = await held(store, "copy")

        outcomes = await moved(store, items, "copy")

        assert set(outcomes) == {Outcome.KNOWN}
        assert await held(store, "copy") == before

    async def test_a_dry_run_says_what_would_become_of_it_and_keeps_nothing(
        self, store: Store
    ) -> None:
        await populate(store)
        items = await exported(store)

        alone = [await moved(store, [item], "copy", dry_run=True) for item in items]
        kept = await exported(store, replace(WHOLE, project_id="copy"))
        became = await moved(store, items, "copy")
        again = await moved(store, items, "copy", dry_run=True)

        assert [one for [one] in alone] == list(became)
        assert kept == []
        assert set(again) == {Outcome.KNOWN}

    async def test_a_break_in_the_middle_is_gone_on_from(self, store: Store) -> None:
        await populate(store)
        items = await exported(store)
        half = len(items) // 2

        await moved(store, items[:half], "copy")
        outcomes = await moved(store, items, "copy")

        assert outcomes == [Outcome.KNOWN] * half + [Outcome.NEW] * (len(items) - half)
        assert await held(store, "copy") == await held(store, PROJECT)

    async def test_items_come_in_the_order_of_their_kinds(self, store: Store) -> None:
        await populate(store)

        kinds = [type(item) for item in await exported(store)]

        order = (ArchivedMemory, ArchivedSession, ArchivedTurn, ArchivedSnapshot, ArchivedJob)
        assert list(dict.fromkeys(kinds)) == list(order)

    async def test_credentials_and_other_projects_are_never_part_of_it(self, store: Store) -> None:
        await store.accounts.add(an_account())
        await store.turns.append(a_turn(project_id="bank"))

        assert await exported(store) == []

    async def test_vectors_are_left_out_unless_asked_for(self, store: Store) -> None:
        await populate(store)
        contents = replace(WHOLE, with_vectors=False)

        async with reading(store, contents) as begun:
            assert not begun.spaces
        await moved(store, await exported(store, contents), "copy")

        found = await store.memories.find(Scope(project_id="copy"), ALL)
        assert not any(memory.has_embedding for memory in found)

    async def test_the_spaces_of_the_vectors_are_told(self, store: Store) -> None:
        await populate(store)

        async with reading(store, WHOLE) as begun:
            assert list(begun.spaces) == [SPACE.name]

    async def test_an_archive_of_one_user_holds_theirs_only(self, store: Store) -> None:
        await populate(store)

        items = await exported(store, replace(WHOLE, user_id="bob"))

        assert [id_of(item) for item in items][:2] == ["m-org", "bobs"]
        assert len(items) == 3

    @pytest.mark.parametrize(
        ("types", "ids"),
        [
            ({"semantic"}, {"m-live", "m-former"}),
            ({"ticket"}, {"m-record"}),
            ({"custom", "taxonomic"}, {"m-record", "m-org"}),
        ],
    )
    async def test_an_archive_of_some_types_holds_no_others(
        self, store: Store, types: set[str], ids: set[str]
    ) -> None:
        await populate(store)

        items = await exported(store, replace(WHOLE, types=frozenset(types)))

        assert {id_of(item) for item in items} == ids

    async def test_conversations_can_be_taken_out_alone(self, store: Store) -> None:
        await populate(store)

        items = await exported(store, replace(WHOLE, types=frozenset({"turns"})))

        assert {type(item) for item in items} == {ArchivedSession, ArchivedTurn, ArchivedSnapshot}

    async def test_vectors_are_the_same_to_the_last_bit(self, store: Store) -> None:
        vector = np.array([0.1, 0.2, 0.3, 0.927], np.float32)
        await store.turns.append(a_turn(), vector=vector, space=SPACE)

        (_, turn) = await exported(store)

        assert isinstance(turn, ArchivedTurn)
        assert turn.vectors[0].data == vector.tobytes()

    async def test_times_keep_microseconds_and_offsets(self, store: Store) -> None:
        await populate(store)
        await moved(store, await exported(store), "copy")

        turn = (await store.turns.run("copy", SESSION, first_seq=1, last_seq=1))[0]

        assert turn.created_at == START + timedelta(microseconds=1)
        assert turn.event_time is not None
        assert turn.event_time.isoformat() == SPOKEN.isoformat()
        assert turn.created_at.tzinfo is UTC


class MomentOfArchiveContract:
    """What a store promises of the moment; a subclass provides the fixture `store`."""

    async def test_what_is_written_meanwhile_is_not_part_of_it(self, store: Store) -> None:
        await populate(store)
        expected = [id_of(item) for item in await exported(store)]

        async with reading(store, WHOLE) as begun:
            await store.turns.append(a_turn("too late"))
            await store.erase(a_scope(user_id="bob"))
            portions = [portion async for portion in begun.portions()]

        assert [id_of(item) for portion in portions for item in portion] == expected
