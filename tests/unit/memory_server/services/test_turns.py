from datetime import UTC, datetime
from typing import Any

import pytest

from memory_server.domain.limits import MAX_CONTENT_BYTES
from memory_server.domain.turn import Role
from memory_server.errors import InvalidRequest, ProviderUnavailable, TooLarge
from memory_server.ports.store import Store
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.services.turns import TurnRecording
from tests.clock import CountingIds, ManualClock
from tests.unit.memory_server.services.conftest import ANA, a_turn


async def test_turn_is_numbered_within_its_session(recording: TurnRecording) -> None:
    first = (await recording.record(ANA, a_turn("one"))).turn
    second = (await recording.record(ANA, a_turn("two"))).turn
    elsewhere = (await recording.record(ANA, a_turn("one", session="s2"))).turn

    assert (first.turn_seq, second.turn_seq, elsewhere.turn_seq) == (1, 2, 1)


async def test_same_key_is_recorded_once_and_told_so(recording: TurnRecording) -> None:
    first = await recording.record(ANA, a_turn("one", idempotency_key="k"))
    again = await recording.record(ANA, a_turn("one", idempotency_key="k"))

    assert again.turn == first.turn
    assert (first.is_duplicate, again.is_duplicate) == (False, True)


async def test_turn_keeps_the_time_its_source_tells(recording: TurnRecording) -> None:
    turn = (
        await recording.record(ANA, a_turn(metadata={"timestamp": "2026-03-02T18:05:00+01:00"}))
    ).turn

    assert turn.event_time == datetime(2026, 3, 2, 17, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"content": "  "}, "content"),
        ({"role": Role.ASSISTANT, "content": ""}, "content"),
        ({"role": Role.TOOL, "content": "42"}, "tool_call_id"),
        ({"role": Role.TOOL, "content": "", "tool_call_id": "c"}, "content"),
        ({"session_id": " "}, "session_id"),
    ],
)
async def test_incomplete_turn_is_refused_by_place(
    recording: TurnRecording, changes: dict[str, Any], place: str
) -> None:
    with pytest.raises(InvalidRequest, match=f"^{place}:"):
        await recording.record(ANA, a_turn(**changes))


async def test_assistant_may_call_tools_without_a_word(recording: TurnRecording) -> None:
    turn = (
        await recording.record(
            ANA, a_turn("", role=Role.ASSISTANT, tool_calls=[{"id": "c", "name": "f"}])
        )
    ).turn

    assert turn.tool_calls == [{"id": "c", "name": "f"}]


async def test_too_long_turn_is_refused_and_nothing_is_stored(
    recording: TurnRecording, store: Store
) -> None:
    with pytest.raises(TooLarge, match=str(MAX_CONTENT_BYTES)):
        await recording.record(ANA, a_turn("x" * (MAX_CONTENT_BYTES + 1)))

    assert await store.snapshots.session("p", "s1") is None


async def test_turn_whose_vector_cannot_be_made_is_stored_without(
    store: Store, clock: ManualClock, ids: CountingIds, embedder: HashingEmbedder
) -> None:
    embedder.failure = ProviderUnavailable()
    recording = TurnRecording(
        turns=store.turns,
        clock=clock,
        ids=ids,
        embedder=embedder,
        embed_on_write=True,
        on_recorded=lambda: None,
    )

    turn = (await recording.record(ANA, a_turn("hello"))).turn

    assert (turn.turn_seq, turn.has_embedding) == (1, False)
