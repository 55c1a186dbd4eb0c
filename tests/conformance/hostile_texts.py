"""What a caller calls a thing is a value, whatever it means to a database."""

from dataclasses import dataclass, replace
from typing import Any

from memory_server.domain.chunk import Source
from memory_server.domain.filters import Comparison, Operator
from memory_server.domain.job import JobKind
from memory_server.domain.memory import Memory
from memory_server.domain.scope import Scope
from memory_server.domain.turn import Turn
from memory_server.ports.memories import Add, MemoryQuery
from memory_server.ports.store import Store
from tests.clock import START
from tests.conformance.isolation import LATER, select
from tests.factories import (
    PROJECT,
    SPACE,
    a_fact,
    a_job,
    a_memory,
    a_snapshot,
    a_turn,
    a_vector,
)

TEXTS = (
    "ana",
    "$ana",
    "$user_id",
    "$$ROOT",
    "$where",
    '{"$ne": null}',
    "a.b",
    "ana/x",
    "ana%2Fx",
    "%",
    "%25",
    "_",
    "*",
    "' OR 1=1 --",
    "nobody",
    "user ana",
    "../ana",
)


@dataclass(frozen=True, kw_only=True)
class Own:
    """What one user has, under whose id everything of theirs goes."""

    turn: Turn
    memory: Memory
    job_id: str


class HostileTextsContract:
    """A subclass provides the fixture `store`, open and empty."""

    async def test_every_text_finds_exactly_what_goes_by_it(self, store: Store) -> None:
        written = {text: await self._write(store, text) for text in TEXTS}

        for text, own in written.items():
            assert await self._found(store, text) == _own(text, own), text

    async def test_an_erasure_takes_exactly_what_goes_by_the_text(self, store: Store) -> None:
        written = {text: await self._write(store, text) for text in TEXTS}

        for text in TEXTS[::4]:
            await store.erase(Scope(project_id=PROJECT, user_id=text))
            del written[text]

        memories = await store.memories.find(Scope(project_id=PROJECT), MemoryQuery())
        jobs = await store.jobs.list(PROJECT, limit=99)
        assert {one.user_id for one in memories} == written.keys()
        assert {one.user_id for one in jobs} == written.keys()
        for text, own in written.items():
            assert await self._found(store, text) == _own(text, own), text

    async def test_work_is_handed_out_under_every_text(self, store: Store) -> None:
        some = TEXTS[::3]
        await store.jobs.enqueue([a_job(user_id=text, key=text) for text in some])

        claimed = [
            await store.jobs.claim(
                worker="w", kinds=[JobKind.EXTRACT], now=START, lease_until=LATER
            )
            for _ in some
        ]

        assert {one.user_id for one in claimed if one is not None} == set(some)

    async def test_projects_are_told_apart_by_every_text(self, store: Store) -> None:
        pairs = [
            ("ana", "x/y"),
            ("ana/x", "y"),
            ("ana%2Fx", "y"),
            ("ana%252Fx", "y"),
            ("$ana", "y"),
        ]
        for project_id, session_id in pairs:
            await store.turns.append(
                a_turn(project_id, id=session_id, project_id=project_id, session_id=session_id)
            )

        for project_id, session_id in pairs:
            turns = await store.turns.run(project_id, session_id, first_seq=1, last_seq=9)
            assert [(one.content, one.turn_seq) for one in turns] == [(project_id, 1)]

    async def _write(self, store: Store, text: str) -> Own:
        turn = await store.turns.append(
            a_turn(
                "In Lisbon",
                id=f"turn {text}",
                session_id=text,
                user_id=text,
                agent_id=text,
                idempotency_key=text,
                metadata={"k": text, text: {text: text}},
            ),
            vector=a_vector(1),
            space=SPACE,
        )
        memory = a_memory(
            id=text,
            user_id=text,
            session_id=text,
            agent_id=text,
            identity_key=text,
            body=a_fact(label=text, text="In Lisbon"),
            metadata={"k": text, text: {text: text}},
        )
        added = Add(memory=memory, vector=a_vector(1))
        await store.memories.apply(PROJECT, [added], space=SPACE)
        job = a_job(user_id=text, key=text, payload={"type": "semantic", "session_id": text})
        snapshot = a_snapshot(1, 1, id=f"snapshot {text}", session_id=text, user_id=text)
        await store.snapshots.promote(snapshot, [job])
        return Own(
            turn=replace(turn, snapshot_id=snapshot.id, has_embedding=True),
            memory=replace(memory, has_embedding=True),
            job_id=job.id,
        )

    async def _found(self, store: Store, text: str) -> list[Any]:
        scope = Scope(project_id=PROJECT, user_id=text, session_id=text, agent_id=text)
        everybody = Scope(project_id=PROJECT)
        same = Comparison("metadata.k", Operator.EQ, text)
        filtered = replace(select(everybody, Source.SEMANTIC), filter=same)
        return [
            await store.turns.run(PROJECT, text, first_seq=1, last_seq=9),
            await store.memories.find(scope, MemoryQuery()),
            await store.memories.find(everybody, MemoryQuery(key=text)),
            [await store.memories.get(scope, text)],
            [hit.id for hit in await store.search.text(select(scope, Source.STM), ["lisbon"])],
            [hit.id for hit in await store.search.text(filtered, ["lisbon"])],
            [hit.id for hit in await store.search.vector(filtered, a_vector(1), SPACE)],
            [one.id for one in await store.jobs.list(PROJECT, limit=99) if one.user_id == text],
        ]


def _own(text: str, own: Own) -> list[Any]:
    """Return all that is found under a text."""
    memories = [own.memory]
    return [[own.turn], *[memories] * 3, [own.turn.id], [text], [text], [own.job_id]]
