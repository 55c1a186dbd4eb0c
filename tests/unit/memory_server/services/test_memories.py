import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from memory_server.domain.embedding import Embedded, Purpose
from memory_server.domain.limits import MAX_TEXT_BYTES
from memory_server.domain.memory import Episode, Fact, Memory, MemoryType, Procedure, Term
from memory_server.domain.scope import Scope, Visibility
from memory_server.errors import InvalidRequest, MemoryNotFound, ProviderUnavailable, TooLarge
from memory_server.ports.memories import MemoryQuery
from memory_server.ports.store import Store
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.services import vectors
from memory_server.services.embedding import LateEmbedding
from memory_server.services.memories import MemoryKeeping, SaveRequest
from tests.clock import CountingIds, ManualClock
from tests.unit.memory_server.services.conftest import ANA, BOB


@pytest.fixture
def keeping(
    store: Store, embedder: HashingEmbedder, clock: ManualClock, ids: CountingIds
) -> MemoryKeeping:
    return MemoryKeeping(store=store, embedder=embedder, clock=clock, ids=ids)


def fact(text: str = "Seat 12A", label: str = "seat", **changes: Any) -> SaveRequest:
    return SaveRequest(**{"body": Fact(label=label, text=text), "upsert": True, **changes})


async def live(keeping: MemoryKeeping, kind: MemoryType = MemoryType.SEMANTIC) -> list[Memory]:
    return list(await keeping.find(ANA, MemoryQuery(type=kind)))


async def test_saved_fact_is_private_unless_said_otherwise(keeping: MemoryKeeping) -> None:
    memory = await keeping.save(ANA, fact())

    assert (memory.visibility, memory.user_id, memory.has_embedding) == (
        Visibility.PRIVATE,
        "ana",
        True,
    )


async def test_upsert_keeps_the_id_and_the_former_version(keeping: MemoryKeeping) -> None:
    first = await keeping.save(ANA, fact("Lyon"))
    second = await keeping.save(ANA, fact("Oslo"))

    versions = await keeping.history(ANA, first.id)
    assert (second.id, second.version) == (first.id, 2)
    assert [version.body.chunk_text for version in versions] == ["Lyon", "Oslo"]
    assert [memory.body.chunk_text for memory in await live(keeping)] == ["Oslo"]


async def test_upsert_is_each_owners_own(keeping: MemoryKeeping) -> None:
    await keeping.save(ANA, fact("mine"))
    await keeping.save(BOB, fact("theirs"))

    assert [memory.body.chunk_text for memory in await live(keeping)] == ["mine"]


async def test_without_upsert_another_text_stands_beside_the_first(
    keeping: MemoryKeeping,
) -> None:
    one = await keeping.save(ANA, fact("one", upsert=False))
    two = await keeping.save(ANA, fact("two", upsert=False))

    assert one.id != two.id
    assert len(await live(keeping)) == 2


@pytest.mark.parametrize("upsert", [True, False])
async def test_twenty_identical_saves_at_once_leave_one_live_memory(
    keeping: MemoryKeeping, upsert: bool
) -> None:
    saved = await asyncio.gather(*(keeping.save(ANA, fact(upsert=upsert)) for _ in range(20)))

    [memory] = await live(keeping)
    assert {one.id for one in saved} == {memory.id}
    assert (memory.reinforcement_count, memory.version) == (19, 1)


async def test_twenty_different_upserts_at_once_leave_one_live_memory(
    keeping: MemoryKeeping,
) -> None:
    await asyncio.gather(*(keeping.save(ANA, fact(f"text {n}")) for n in range(20)))

    [memory] = await live(keeping)
    assert memory.version == 20
    assert len(await keeping.history(ANA, memory.id)) == 20


async def test_same_procedure_twice_is_two(keeping: MemoryKeeping) -> None:
    request = SaveRequest(body=Procedure(procedure="deploy", description="d", content="push"))
    await keeping.save(ANA, request)
    newest = await keeping.save(ANA, request)

    found = await live(keeping, MemoryType.PROCEDURAL)
    assert [len(found), found[0].id] == [2, newest.id]


async def test_term_is_for_the_project_and_replaced_when_defined_anew(
    keeping: MemoryKeeping,
) -> None:
    await keeping.save(ANA, SaveRequest(body=Term(domain="d", term="t", definition="old")))
    term = await keeping.save(ANA, SaveRequest(body=Term(domain="d", term="t", definition="new")))

    assert (term.visibility, term.version) == (Visibility.ORG, 2)
    assert len(await live(keeping, MemoryType.TAXONOMIC)) == 1


async def test_change_of_metadata_alone_makes_no_new_version(keeping: MemoryKeeping) -> None:
    await keeping.save(ANA, fact(metadata={"tier": "gold"}))
    memory = await keeping.save(ANA, fact(metadata={"tier": "silver"}))

    assert (memory.version, memory.metadata) == (1, {"tier": "silver"})


async def test_patch_leaves_what_is_not_given(keeping: MemoryKeeping) -> None:
    memory = await keeping.save(ANA, fact(metadata={"tier": "gold"}))

    changed = await keeping.patch(
        ANA, MemoryType.SEMANTIC, memory.id, {"text": "Seat 1A", "source": None}
    )

    assert (changed.body, changed.metadata) == (
        Fact(label="seat", text="Seat 1A"),
        {"tier": "gold"},
    )
    assert (changed.version, changed.has_embedding) == (2, True)


async def test_patch_of_anothers_memory_finds_nothing(keeping: MemoryKeeping) -> None:
    memory = await keeping.save(ANA, fact())

    with pytest.raises(MemoryNotFound):
        await keeping.patch(BOB, MemoryType.SEMANTIC, memory.id, {"text": "mine now"})


async def test_soft_deleted_memory_is_hidden_and_counted_once(keeping: MemoryKeeping) -> None:
    memory = await keeping.save(ANA, fact())

    first = await keeping.delete(ANA, MemoryType.SEMANTIC, memory.id)
    second = await keeping.delete(ANA, MemoryType.SEMANTIC, memory.id)

    assert (first, second, await live(keeping)) == (1, 0, [])
    assert (await keeping.get(ANA, memory.id)).deleted


async def test_hard_deleted_memory_is_gone(keeping: MemoryKeeping) -> None:
    memory = await keeping.save(ANA, fact())

    await keeping.delete(ANA, MemoryType.SEMANTIC, memory.id, soft=False)

    with pytest.raises(MemoryNotFound):
        await keeping.get(ANA, memory.id)


async def test_label_of_a_deleted_fact_can_be_saved_again(keeping: MemoryKeeping) -> None:
    memory = await keeping.save(ANA, fact("old"))
    await keeping.delete(ANA, MemoryType.SEMANTIC, memory.id)

    again = await keeping.save(ANA, fact("new"))

    assert [one.id for one in await live(keeping)] == [again.id]


async def test_memory_that_cannot_be_embedded_is_stored_without_a_vector(
    keeping: MemoryKeeping, embedder: HashingEmbedder
) -> None:
    embedder.failure = ProviderUnavailable()

    memory = await keeping.save(ANA, fact())

    assert not memory.has_embedding


class Busy(HashingEmbedder):
    """Never comes to a text."""

    async def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Embedded:
        await asyncio.Event().wait()
        return await super().embed(texts, purpose=purpose)


async def test_memory_whose_vector_takes_too_long_is_stored_and_gets_it_later(
    store: Store, clock: ManualClock, ids: CountingIds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "WAIT_SECONDS", 0.01)
    keeping = MemoryKeeping(store=store, embedder=Busy(), clock=clock, ids=ids)

    memory = await keeping.save(ANA, fact())

    late = LateEmbedding(store=store, embedder=HashingEmbedder(), clock=clock, ids=ids)
    assert (memory.has_embedding, await late.sweep(ANA.project_id)) == (False, 1)


class Slow(HashingEmbedder):
    """Takes a second to embed."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__()
        self._clock = clock

    async def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Embedded:
        self._clock.advance(1)
        return await super().embed(texts, purpose=purpose)


async def test_a_memory_is_made_when_it_is_asked_for_however_long_its_vector_takes(
    store: Store, clock: ManualClock, ids: CountingIds
) -> None:
    asked = clock.now()
    keeping = MemoryKeeping(store=store, embedder=Slow(clock), clock=clock, ids=ids)

    memory = await keeping.save(ANA, fact())

    assert memory.created_at == asked < memory.updated_at == clock.now()


async def test_blank_and_oversized_texts_are_refused(keeping: MemoryKeeping) -> None:
    with pytest.raises(InvalidRequest):
        await keeping.save(ANA, fact("  "))
    with pytest.raises(TooLarge):
        await keeping.save(ANA, fact("x" * (MAX_TEXT_BYTES + 1)))

    assert await live(keeping) == []


async def test_identical_episode_of_one_session_is_kept_once(keeping: MemoryKeeping) -> None:
    request = SaveRequest(body=Episode(title="Call", content="Refund asked for"))
    first = await keeping.save(ANA, request)
    second = await keeping.save(ANA, request)

    assert first.id == second.id


async def test_upsert_without_metadata_keeps_what_is_stored(keeping: MemoryKeeping) -> None:
    await keeping.save(ANA, fact("Lyon", metadata={"tier": "gold"}))

    kept = await keeping.save(ANA, fact("Oslo"))
    cleared = await keeping.save(ANA, fact("Oslo", metadata={}))

    assert (kept.metadata, cleared.metadata) == ({"tier": "gold"}, {})


async def test_fact_changed_by_hand_is_another_than_the_one_saved_again(
    keeping: MemoryKeeping,
) -> None:
    first = await keeping.save(ANA, fact("Lisbon", upsert=False))
    await keeping.patch(ANA, MemoryType.SEMANTIC, first.id, {"text": "Porto"})

    again = await keeping.save(ANA, fact("Lisbon", upsert=False))

    assert again.id != first.id
    assert {memory.body.chunk_text for memory in await live(keeping)} == {"Lisbon", "Porto"}


async def test_former_version_cannot_be_deleted_in_place_of_its_memory(
    keeping: MemoryKeeping,
) -> None:
    memory = await keeping.save(ANA, fact("Lyon"))
    changed = await keeping.save(ANA, fact("Oslo"))
    assert changed.supersedes is not None

    with pytest.raises(MemoryNotFound):
        await keeping.delete(ANA, MemoryType.SEMANTIC, changed.supersedes)

    assert [one.id for one in await live(keeping)] == [memory.id]


async def test_delete_and_reinforcements_at_once_end_in_a_deleted_memory(
    keeping: MemoryKeeping,
) -> None:
    memory = await keeping.save(ANA, fact(metadata={"n": 0}))
    changes = [
        keeping.patch(ANA, MemoryType.SEMANTIC, memory.id, {"metadata": {"n": n}}) for n in range(5)
    ]

    outcomes = await asyncio.gather(
        keeping.delete(ANA, MemoryType.SEMANTIC, memory.id), *changes, return_exceptions=True
    )

    assert outcomes[0] == 1
    assert await live(keeping) == []


async def test_oversized_patch_is_refused(keeping: MemoryKeeping) -> None:
    memory = await keeping.save(ANA, fact())

    with pytest.raises(TooLarge):
        await keeping.patch(
            ANA, MemoryType.SEMANTIC, memory.id, {"text": "x" * (MAX_TEXT_BYTES + 1)}
        )


async def test_memories_of_no_user_are_not_those_of_others(keeping: MemoryKeeping) -> None:
    await keeping.save(ANA, fact("mine"))

    nobodys = await keeping.save(Scope(project_id="p"), fact("nobody's"))

    assert nobodys.user_id is None
    assert [memory.body.chunk_text for memory in await live(keeping)] == ["mine"]
