from collections.abc import Callable
from datetime import timedelta

import pytest

from memory_server.domain.job import JobState
from memory_server.domain.memory import MemoryType
from memory_server.domain.promotion import PromotionPolicy
from memory_server.domain.snapshot import Trigger
from memory_server.errors import ProviderUnavailable
from memory_server.ports.store import Store
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.services.promotion import Promotion
from memory_server.services.turns import TurnRecording
from tests.clock import CountingIds, ManualClock
from tests.unit.memory_server.services.conftest import ANA, BOB, a_turn

Build = Callable[..., Promotion]


@pytest.fixture
def build(store: Store, embedder: HashingEmbedder, clock: ManualClock, ids: CountingIds) -> Build:
    def make(threshold: float | None = None, enabled: tuple[MemoryType, ...] = ()) -> Promotion:
        return Promotion(
            store=store,
            embedder=embedder,
            clock=clock,
            ids=ids,
            policy=PromotionPolicy(
                max_messages=3,
                stale_after=timedelta(minutes=3),
                topic_shift_threshold=threshold,
            ),
            enabled=enabled or (MemoryType.SEMANTIC, MemoryType.EPISODIC),
            on_queued=lambda: None,
        )

    return make


async def say(recording: TurnRecording, *lines: str, session: str = "s1") -> None:
    for line in lines:
        await recording.record(ANA, a_turn(line, session=session))


async def test_full_session_is_promoted_with_a_job_for_each_type(
    build: Build, recording: TurnRecording, store: Store
) -> None:
    await say(recording, "a", "b", "c", "d")

    promoted = await build().promote_ripe()

    assert [(s.first_seq, s.last_seq, s.trigger) for s in promoted.snapshots] == [
        (1, 3, Trigger.SIZE)
    ]
    jobs = await store.jobs.list("p", state=JobState.QUEUED)
    assert {job.payload["type"] for job in jobs} == {"semantic", "episodic"}


async def test_idle_session_is_promoted_without_another_turn(
    build: Build, recording: TurnRecording, clock: ManualClock
) -> None:
    promotion = build()
    await say(recording, "a")
    assert not (await promotion.promote_ripe()).snapshots

    clock.advance(by=timedelta(minutes=3))

    assert [s.trigger for s in (await promotion.promote_ripe()).snapshots] == [Trigger.IDLE]


async def test_long_backlog_is_promoted_in_one_round(
    build: Build, recording: TurnRecording
) -> None:
    await say(recording, *"abcdefgh")

    promoted = await build().promote_ripe()

    assert [(s.first_seq, s.last_seq) for s in promoted.snapshots] == [(1, 3), (4, 6)]


async def test_each_turn_is_promoted_once(build: Build, recording: TurnRecording) -> None:
    promotion = build()
    await say(recording, "a", "b", "c")

    await promotion.promote_ripe()

    assert not (await promotion.promote_ripe()).snapshots
    assert not (await promotion.flush("p")).snapshots


async def test_flush_takes_one_session_or_all(build: Build, recording: TurnRecording) -> None:
    promotion = build()
    await say(recording, "a", session="s1")
    await say(recording, "b", session="s2")

    one = await promotion.flush("p", session_id="s1")
    rest = await promotion.flush("p")

    assert [s.session_id for s in one.snapshots] == ["s1"]
    assert [s.session_id for s in rest.snapshots] == ["s2"]


async def test_flush_of_a_user_leaves_others_alone(build: Build, recording: TurnRecording) -> None:
    await say(recording, "a", session="s1")
    await recording.record(BOB, a_turn("b", session="s2"))

    promoted = await build().flush("p", user_id="bob")

    assert [s.user_id for s in promoted.snapshots] == ["bob"]


async def test_flush_of_an_unknown_session_is_nothing(build: Build) -> None:
    assert not (await build().flush("p", session_id="nobody")).snapshots


async def test_turns_get_vectors_before_they_are_promoted(
    build: Build, recording: TurnRecording, store: Store
) -> None:
    await say(recording, "a", "b", "c")

    await build().promote_ripe()

    turns = await store.turns.run("p", "s1", first_seq=1, last_seq=3)
    assert all(turn.has_embedding for turn in turns)


async def test_promotion_does_not_wait_for_an_absent_embedding_provider(
    build: Build, recording: TurnRecording, embedder: HashingEmbedder
) -> None:
    embedder.failure = ProviderUnavailable()
    await say(recording, "a", "b", "c")

    assert len((await build().promote_ripe()).snapshots) == 1


async def test_change_of_topic_ends_a_run(build: Build, recording: TurnRecording) -> None:
    await say(
        recording,
        "my cat sleeps on the sofa all day",
        "zebra quantum voltage spectrum",
    )

    promoted = await build(threshold=0.6).promote_ripe()

    assert [(s.last_seq, s.trigger) for s in promoted.snapshots] == [(1, Trigger.TOPIC_SHIFT)]
