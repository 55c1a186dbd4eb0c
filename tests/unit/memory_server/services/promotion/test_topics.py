"""Promotion by a change of topic."""

import pytest

from memory_server.domain.snapshot import Trigger
from memory_server.errors import ProviderError
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.services import promotion as promotion_module
from memory_server.services import turn_vectors
from memory_server.services.turns import TurnRecording
from tests.clock import ManualClock
from tests.unit.memory_server.services.promotion.steps import Build, say


class Away(HashingEmbedder):
    """Counts how often it is asked, and fails each time."""

    def __init__(self, failure: ProviderError) -> None:
        super().__init__()
        self.failure = failure
        self.calls = 0

    async def check(self) -> None:
        self.calls += 1
        await super().check()


async def test_sessions_whose_topic_is_watched_hide_no_full_one(
    build: Build, recording: TurnRecording, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(promotion_module, "PAGE", 2)
    for number in range(6):
        await say(recording, "a", "a", session=f"quiet {number}")
    clock.advance(1)
    await say(recording, "a", "a", "a", session="full")

    promoted = await build(threshold=1.9).promote_ripe()

    assert [s.session_id for s in promoted.snapshots] == ["full"]


async def test_change_of_topic_is_found_behind_many_sessions_without_one(
    build: Build, recording: TurnRecording, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(promotion_module, "PAGE", 2)
    for number in range(6):
        await say(recording, "my cat", "my cat", session=f"quiet {number}")
    clock.advance(1)
    await say(recording, "my cat", "zebra quantum voltage spectrum", session="shifted")
    promotion = build(threshold=0.6)

    found = [await promotion.promote_ripe() for _ in range(4)]

    assert [s.session_id for round_ in found for s in round_.snapshots] == ["shifted"]


async def test_turn_is_embedded_once_while_its_topic_is_watched(
    build: Build, recording: TurnRecording, embedder: HashingEmbedder
) -> None:
    promotion = build(threshold=1.9)
    for line in ("one", "two", "three", "four"):
        await say(recording, line)
        await promotion.promote_ripe()

    asked = [text for call in embedder.asked for text in call.texts]
    assert sorted(asked) == ["user: one", "user: three", "user: two"]


async def test_what_is_remembered_of_watched_sessions_is_bounded(
    build: Build, recording: TurnRecording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(promotion_module, "SEEN", 3)
    monkeypatch.setattr(turn_vectors, "REMEMBERED", 4)
    promotion = build(threshold=1.9)
    for number in range(6):
        await say(recording, "a", "b", session=f"s{number}")

    await promotion.promote_ripe()

    assert len(promotion._seen_seq) == 3
    assert len(promotion._vectors._known) == 4


async def test_change_of_topic_ends_a_run(build: Build, recording: TurnRecording) -> None:
    await say(
        recording,
        "my cat sleeps on the sofa all day",
        "zebra quantum voltage spectrum",
    )

    promoted = await build(threshold=0.6).promote_ripe()

    assert [(s.last_seq, s.trigger) for s in promoted.snapshots] == [(1, Trigger.TOPIC_SHIFT)]
