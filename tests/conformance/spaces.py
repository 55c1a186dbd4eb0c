"""What every `Spaces` promises. Each store's test module runs the whole class."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np

from memory_server.domain.chunk import Source
from memory_server.domain.embedding import EmbeddingSpace, Vector
from memory_server.domain.job import Job, JobKind
from memory_server.domain.memory import Memory
from memory_server.domain.turn import Turn
from memory_server.ports.memories import Add, Erase, Replace
from memory_server.ports.search import Selection
from memory_server.ports.spaces import BareTurns, Given, Missing, Switch
from memory_server.ports.store import Store
from memory_server.project_config import EmbeddingConfig
from tests.clock import START
from tests.factories import (
    OTHER_SPACE,
    PROJECT,
    SPACE,
    a_fact,
    a_job,
    a_memory,
    a_scope,
    a_snapshot,
    a_turn,
    a_vector,
)

OLD = EmbeddingConfig(provider="openai", model=SPACE.model, dimension=SPACE.dimension)
NEW = EmbeddingConfig(
    provider="voyage",
    model=OTHER_SPACE.model,
    dimension=OTHER_SPACE.dimension,
    base_url="https://models.example",
    api_key_secret="VOYAGE_API_KEY",
)
THIRD = EmbeddingConfig(provider="local", model="wordllama", dimension=256)
LATER = START + timedelta(hours=1)


def new_vector(*components: float) -> Vector:
    """Return a vector of the other space."""
    vector = np.zeros(OTHER_SPACE.dimension, np.float32)
    vector[: len(components)] = components
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


def work() -> Job:
    """Return the job of a re-embedding."""
    return a_job(kind=JobKind.REEMBED, key="reembed", user_id=None, payload={})


async def begin(store: Store, target: EmbeddingConfig = NEW) -> Job:
    """Begin to re-embed what OLD embedded, and claim the job of it."""
    await store.spaces.declare(OLD, now=START)
    await store.spaces.begin(target, work(), now=START)
    return await claim(store)


async def claim(store: Store) -> Job:
    job = await store.jobs.claim(worker="w", kinds=[JobKind.REEMBED], now=START, lease_until=LATER)
    assert job is not None
    return job


async def say(store: Store, content: str = "Lisbon", **changes: Any) -> Turn:
    return await store.turns.append(a_turn(content, **changes), vector=a_vector(1), space=SPACE)


async def know(store: Store, **changes: Any) -> Memory:
    memory = a_memory(**changes)
    await store.memories.apply(PROJECT, [Add(memory=memory, vector=a_vector(1))], space=SPACE)
    return (await store.memories.get_many(a_scope(), [memory.id]))[0]


async def missing(store: Store, space: EmbeddingSpace = OTHER_SPACE, **how: Any) -> list[Missing]:
    return list(await store.spaces.missing(space.name, **{"limit": 100} | how))


async def give(store: Store, *ones: Turn | Memory, vector: Vector | None = None) -> None:
    """Give these a vector of the other space."""
    given = [
        Given(
            project_id=one.project_id,
            id=one.id,
            vector=new_vector(1) if vector is None else vector,
            revision=one.revision if isinstance(one, Memory) else None,
        )
        for one in ones
    ]
    await store.spaces.give(given, OTHER_SPACE)


async def refuse(store: Store, one: Turn | Memory) -> None:
    """Note that the other space's model cannot embed it."""
    revision = one.revision if isinstance(one, Memory) else None
    given = Given(project_id=one.project_id, id=one.id, vector=None, revision=revision)
    await store.spaces.give([given], OTHER_SPACE)


async def found(store: Store, space: EmbeddingSpace, source: Source = Source.STM) -> set[str]:
    """Return what a search by meaning finds in a space."""
    vector = a_vector(1) if space is SPACE else new_vector(1)
    selection = Selection(scope=a_scope(), source=source, limit=100)
    return {hit.id for hit in await store.search.vector(selection, vector, space)}


async def drop_all(store: Store) -> int:
    dropped = 0
    while some := await store.spaces.drop(limit=2):
        dropped += some
    return dropped


def ids(found: Sequence[Any]) -> list[str]:
    return [one.id for one in found]


class SpacesContract:
    """A subclass provides the fixture `store`, open and empty."""

    async def test_a_new_store_knows_no_space(self, store: Store) -> None:
        spaces = await store.spaces.look()

        assert (spaces.active, spaces.target, dict(spaces.vectors)) == (None, None, {})

    async def test_what_makes_a_model_again_is_remembered_whole(self, store: Store) -> None:
        declared = await store.spaces.declare(NEW, now=START)

        assert declared.active == (await store.spaces.look()).active == NEW
        assert declared.changed_at == START

    async def test_any_model_may_answer_where_nothing_has_a_vector(self, store: Store) -> None:
        await store.spaces.declare(OLD, now=START)
        await store.turns.append(a_turn())

        await store.spaces.declare(NEW, now=START)

        assert (await store.spaces.look()).active == NEW

    async def test_vectors_keep_the_model_that_answers(self, store: Store) -> None:
        await store.spaces.declare(OLD, now=START)
        await say(store)

        declared = await store.spaces.declare(NEW, now=START)

        assert declared.active == (await store.spaces.look()).active == OLD

    async def test_another_way_to_the_same_vectors_is_remembered(self, store: Store) -> None:
        await store.spaces.declare(OLD, now=START)
        await say(store)
        elsewhere = replace(OLD, base_url="http://localhost:9")

        await store.spaces.declare(elsewhere, now=START)

        assert (await store.spaces.look()).active == elsewhere

    async def test_the_same_declared_again_is_no_change(self, store: Store) -> None:
        before = await store.spaces.declare(OLD, now=START)

        assert await store.spaces.declare(OLD, now=LATER) == before

    async def test_a_beginning_notes_the_target_and_queues_its_job(self, store: Store) -> None:
        await say(store)

        job = await begin(store)

        spaces = await store.spaces.look()
        assert (spaces.active, spaces.target) == (OLD, NEW)
        assert job.payload["revision"] == spaces.revision
        assert (spaces.done, spaces.total) == (0, 1)

    async def test_the_same_target_again_keeps_its_job(self, store: Store) -> None:
        await say(store)
        job = await begin(store)

        await store.spaces.begin(NEW, work(), now=LATER)

        assert ids(await store.jobs.list(PROJECT)) == [job.id]

    async def test_another_target_gets_a_job_of_its_own(self, store: Store) -> None:
        await say(store)
        first = await begin(store)

        spaces = await store.spaces.begin(THIRD, work(), now=LATER)

        assert spaces.target == THIRD
        assert first.payload["revision"] != spaces.revision
        assert len(await store.jobs.list(PROJECT)) == 2

    async def test_a_given_up_target_leaves_what_answers(self, store: Store) -> None:
        await say(store)
        job = await begin(store)

        spaces = await store.spaces.cancel(now=LATER)

        assert (spaces.active, spaces.target) == (OLD, None)
        assert await store.spaces.switch(job, now=LATER) is Switch.CHANGED
        assert (await store.spaces.look()).active == OLD

    async def test_giving_up_nothing_changes_nothing(self, store: Store) -> None:
        before = await store.spaces.declare(OLD, now=START)

        assert await store.spaces.cancel(now=LATER) == before

    async def test_all_that_has_a_vector_misses_one_of_another_space(self, store: Store) -> None:
        turn, memory = await say(store), await know(store)
        await store.turns.append(a_turn("no vector"))
        await store.memories.apply(PROJECT, [Add(memory=a_memory())])

        found = await missing(store)

        assert {(one.id, one.is_turn) for one in found} == {(turn.id, True), (memory.id, False)}
        assert await missing(store, SPACE) == []

    async def test_turns_that_no_model_was_there_for_miss_a_vector_where_that_is_asked(
        self, store: Store
    ) -> None:
        promoted = await store.turns.append(a_turn("Lisbon"))
        await store.snapshots.promote(a_snapshot(1, 1), [])
        waiting = await store.turns.append(a_turn("Oslo"))
        held = await say(store, session_id="other")

        found = {bare: set(ids(await missing(store, bare=bare))) for bare in BareTurns}

        assert found == {
            BareTurns.NONE: {held.id},
            BareTurns.PROMOTED: {held.id, promoted.id},
            BareTurns.ALL: {held.id, promoted.id, waiting.id},
        }

    async def test_such_a_turn_is_given_one_and_found_by_it_or_refused_once(
        self, store: Store
    ) -> None:
        given = await store.turns.append(a_turn("Lisbon"))
        refused = await store.turns.append(a_turn("?"))
        await begin(store)

        await give(store, given)
        await refuse(store, refused)

        assert await missing(store, bare=BareTurns.ALL) == []
        assert await found(store, OTHER_SPACE) == {given.id}
        turns = await store.turns.get_many(PROJECT, [given.id, refused.id])
        assert {turn.id: turn.has_embedding for turn in turns} == {
            given.id: True,
            refused.id: False,
        }

    async def test_every_version_of_a_memory_misses_a_vector(self, store: Store) -> None:
        memory = await know(store)
        newer = replace(memory, body=a_fact(text="Oslo"), version=2, revision=memory.revision + 1)
        change = Replace(memory=newer, former_id="former", vector=a_vector(0, 1))
        await store.memories.apply(PROJECT, [change], space=SPACE)

        assert set(ids(await missing(store))) == {memory.id, "former"}

    async def test_deleted_memories_miss_a_vector_too(self, store: Store) -> None:
        memory = await know(store)
        deleted = replace(memory, deleted=True, revision=memory.revision + 1)
        await store.memories.apply(PROJECT, [Replace(memory=deleted)])

        assert ids(await missing(store)) == [memory.id]

    async def test_what_is_missing_comes_page_by_page_in_one_order(self, store: Store) -> None:
        said = [await say(store) for _ in range(5)]

        first = await missing(store, limit=2)
        second = await missing(store, limit=2, after=first[-1].place)
        last = await missing(store, limit=2, after=second[-1].place)

        assert ids([*first, *second, *last]) == ids(said)
        assert await missing(store, after=last[-1].place) == []

    async def test_a_turn_follows_the_one_it_was_promoted_with(self, store: Store) -> None:
        said = [await say(store) for _ in range(4)]
        await store.snapshots.promote(a_snapshot(1, 2), [])
        await store.snapshots.promote(a_snapshot(3, 3), [])

        follows = [one.follows for one in await missing(store)]

        assert follows == [None, said[0].id, None, None]

    async def test_a_given_vector_is_found_in_its_space_beside_the_other(
        self, store: Store
    ) -> None:
        turn, memory = await say(store), await know(store)

        await give(store, turn, memory)

        assert await missing(store) == []
        for space in (SPACE, OTHER_SPACE):
            assert await found(store, space) == {turn.id}
            assert await found(store, space, Source.SEMANTIC) == {memory.id}

    async def test_progress_counts_what_was_given_and_what_was_refused(self, store: Store) -> None:
        turn, memory, _ = await say(store), await know(store), await say(store)
        await begin(store)

        await give(store, turn)
        await refuse(store, memory)

        spaces = await store.spaces.look()
        assert (spaces.done, spaces.total, spaces.refused) == (2, 3, 1)

    async def test_nothing_is_given_to_what_changed_since(self, store: Store) -> None:
        memory = await know(store)
        newer = replace(memory, body=a_fact(text="Oslo"), version=2, revision=memory.revision + 1)
        change = Replace(memory=newer, former_id="former", vector=a_vector(0, 1))
        await store.memories.apply(PROJECT, [change], space=SPACE)

        await give(store, memory)

        assert set(ids(await missing(store))) == {memory.id, "former"}

    async def test_new_content_makes_a_given_vector_outdated(self, store: Store) -> None:
        memory = await know(store)
        await give(store, memory)
        newer = replace(memory, body=a_fact(text="Oslo"), version=2, revision=memory.revision + 1)
        change = Replace(memory=newer, former_id="former", vector=a_vector(0, 1))

        await store.memories.apply(PROJECT, [change], space=SPACE)

        assert ids(await missing(store)) == [memory.id]

    async def test_nothing_is_given_to_what_is_gone_or_a_memory_that_has_no_vector(
        self, store: Store
    ) -> None:
        memory = await know(store)
        await store.memories.apply(PROJECT, [Erase(memory_id=memory.id)])
        bare = a_memory()
        await store.memories.apply(PROJECT, [Add(memory=bare)])

        await give(store, memory, bare)

        assert await found(store, OTHER_SPACE, Source.SEMANTIC) == set()
        assert (await store.spaces.look(counted=True)).held == 0

    async def test_a_text_that_cannot_be_embedded_is_missed_no_more(self, store: Store) -> None:
        turn = await say(store)

        await refuse(store, turn)

        assert await missing(store) == []
        assert ids(await missing(store, EmbeddingSpace(model="third", dimension=2))) == [turn.id]

    async def test_new_content_is_tried_though_the_former_was_refused(self, store: Store) -> None:
        memory = await know(store)
        await refuse(store, memory)
        newer = replace(memory, body=a_fact(text="Oslo"), version=2, revision=memory.revision + 1)
        change = Replace(memory=newer, former_id="former", vector=a_vector(0, 1))

        await store.memories.apply(PROJECT, [change], space=SPACE)

        assert memory.id in ids(await missing(store))
