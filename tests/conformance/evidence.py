"""What becomes of a memory whose turns go. Each store's test module runs the whole class.

The memory stays; its evidence tells that the words are gone, when they were said and by whom.
Erasing the user removes all.
"""

from datetime import timedelta
from typing import Any

import pytest

from memory_server.domain.memory import Evidence, Memory
from memory_server.errors import MemoryNotFound
from memory_server.ports.memories import Add, Replace
from memory_server.ports.store import Store
from memory_server.services.administration import Administration, Remembered
from tests.clock import START, ManualClock
from tests.conformance.memory_changes import changed
from tests.factories import PROJECT, a_memory, a_scope, a_snapshot, a_turn

LATER = START + timedelta(days=9)


async def know(store: Store, **changes: Any) -> Memory:
    """Promote two turns of Ana's, and store a memory that rests on them."""
    turns = [
        await store.turns.append(a_turn(text, metadata={"speaker": "Ana"}))
        for text in ("I moved", "to Lisbon")
    ]
    snapshot = a_snapshot(first_seq=turns[0].turn_seq, last_seq=turns[1].turn_seq)
    await store.snapshots.promote(snapshot, [])
    evidence = Evidence(
        snapshot_id=snapshot.id,
        session_id=snapshot.session_id,
        turn_ids=tuple(turn.id for turn in turns),
        extractor="rules/1",
        learned_at=START,
        event_time=START,
        speakers=("Ana",),
    )
    memory = a_memory(evidence=(evidence,), **changes)
    await store.memories.apply(PROJECT, [Add(memory=memory)])
    return memory


async def remembered(store: Store, memory: Memory, *, history: bool = False) -> Remembered:
    """Return the memory as it is shown."""
    administration = Administration(store=store, clock=ManualClock())
    scope = a_scope(user_id=None)
    return await administration.memory(scope, memory.id, include_history=history)


def is_told_without_words(shown: Remembered, memory: Memory) -> bool:
    """Whether a memory is as it was, and of its turns only when and by whom they were said."""
    (known,) = memory.evidence
    (evidence,) = shown.memory.evidence
    same = (evidence.event_time, evidence.speakers, evidence.turn_ids)
    return (
        shown.memory.body == memory.body
        and shown.memory.is_live
        and not shown.turns
        and same == (START, ("Ana",), known.turn_ids)
    )


class EvidenceContract:
    """A subclass provides the fixture `store`, open and empty."""

    async def test_words_are_told_with_who_said_them_and_when(self, store: Store) -> None:
        memory = await know(store)

        shown = await remembered(store, memory)

        said = [shown.turns[turn] for turn in memory.evidence[0].turn_ids]
        assert [(turn.speaker, turn.content) for turn in said] == [
            ("Ana", "I moved"),
            ("Ana", "to Lisbon"),
        ]

    async def test_memory_outlives_turns_that_go_with_their_promotion(self, store: Store) -> None:
        memory = await know(store)

        assert await store.snapshots.delete_promoted_turns(limit=100) == 2

        assert is_told_without_words(await remembered(store, memory), memory)

    async def test_memory_outlives_turns_that_expire(self, store: Store) -> None:
        memory = await know(store)

        assert await store.snapshots.expire(before=LATER, limit=100) == 1

        assert is_told_without_words(await remembered(store, memory), memory)

    async def test_erasing_the_user_removes_memory_and_words(self, store: Store) -> None:
        memory = await know(store)

        await store.erase(a_scope())

        with pytest.raises(MemoryNotFound):
            await remembered(store, memory)
        assert await store.turns.get_many(PROJECT, memory.evidence[0].turn_ids) == []

    async def test_former_versions_are_told_with_the_words_they_rest_on(self, store: Store) -> None:
        memory = await know(store)
        turn = await store.turns.append(a_turn("I moved to Faro"))
        new = Evidence(
            snapshot_id="another",
            session_id="monday",
            turn_ids=(turn.id,),
            extractor="rules/1",
            learned_at=START,
        )
        replaced = changed(memory, evidence=(new,))
        await store.memories.apply(PROJECT, [Replace(memory=replaced, former_id="former")])

        shown = await remembered(store, memory, history=True)
        by_former_id = await remembered(store, shown.history[0])

        assert {one.content for one in shown.turns.values()} == {
            "I moved",
            "to Lisbon",
            "I moved to Faro",
        }
        assert shown.history[0].evidence[0].speakers == ("Ana",)
        assert by_former_id.memory.id == memory.id
