"""Promotion of what is ripe."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest

from memory_server.domain.embedding import Embedded, Purpose
from memory_server.domain.job import Job, JobKind, JobState
from memory_server.domain.snapshot import Snapshot, Trigger
from memory_server.errors import (
    KeyRejected,
    ProviderError,
    ProviderRateLimited,
    ProviderUnavailable,
    StorageCorrupt,
    StorageUnavailable,
)
from memory_server.ports.store import Store
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.services import promotion as promotion_module
from memory_server.services.turns import TurnRecording
from tests.clock import ManualClock
from tests.unit.memory_server.services.conftest import BOB, a_turn
from tests.unit.memory_server.services.promotion.steps import Build, say
from tests.unit.memory_server.services.promotion.test_topics import Away


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


def break_session(
    store: Store, monkeypatch: pytest.MonkeyPatch, session_id: str, error: BaseException
) -> None:
    """Let the promotion of one session fail."""
    promote = store.snapshots.promote

    async def breaking(snapshot: Snapshot, jobs: Sequence[Job]) -> None:
        if snapshot.session_id == session_id:
            raise error
        await promote(snapshot, jobs)

    monkeypatch.setattr(store.snapshots, "promote", breaking)


@pytest.mark.parametrize("error", [ZeroDivisionError(), StorageCorrupt(), asyncio.CancelledError()])
async def test_session_that_cannot_be_promoted_holds_up_no_other(
    build: Build,
    recording: TurnRecording,
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
) -> None:
    for session in ("s1", "s2", "s3"):
        await say(recording, "a", "b", "c", session=session)
    break_session(store, monkeypatch, "s1", error)

    promoted = await build().promote_ripe()

    assert [s.session_id for s in promoted.snapshots] == ["s2", "s3"]


async def test_store_that_is_away_ends_the_round(
    build: Build, recording: TurnRecording, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await say(recording, "a", "b", "c")
    break_session(store, monkeypatch, "s1", StorageUnavailable())

    with pytest.raises(StorageUnavailable):
        await build().promote_ripe()


class Stumbling(HashingEmbedder):
    """Fails in its own way on some text."""

    async def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Embedded:
        if "poison" in texts:
            raise ZeroDivisionError
        return await super().embed(texts, purpose=purpose)


async def test_text_that_the_model_stumbles_over_is_promoted_without_a_vector(
    build: Build, recording: TurnRecording, store: Store
) -> None:
    await say(recording, "poison", "b", "c", session="s1")
    await say(recording, "d", "e", "f", session="s2")

    promoted = await build(embedder=Stumbling()).promote_ripe()

    assert [s.session_id for s in promoted.snapshots] == ["s1", "s2"]
    turns = await store.turns.run("p", "s2", first_seq=1, last_seq=3)
    assert all(turn.has_embedding for turn in turns)


@pytest.mark.parametrize("failure", [ProviderUnavailable(), ProviderRateLimited(), KeyRejected()])
async def test_provider_that_is_away_is_asked_once_a_round(
    build: Build,
    recording: TurnRecording,
    failure: ProviderError,
) -> None:
    for session in ("s1", "s2", "s3"):
        await say(recording, "a", "b", "c", session=session)
    away = Away(failure)
    promotion = build(embedder=away)

    promoted = await promotion.promote_ripe()

    assert (len(promoted.snapshots), away.calls) == (3, 1)
    await say(recording, "a", "b", "c", session="s4")
    await promotion.promote_ripe()
    assert away.calls == 2


async def test_run_goes_on_behind_turns_that_were_erased(
    build: Build, recording: TurnRecording, store: Store
) -> None:
    await say(recording, "a", "b")
    for _ in range(5):
        await recording.record(BOB, a_turn("x"))
    await say(recording, "c")
    await store.erase(BOB)

    promoted = await build().promote_ripe()

    assert [(s.first_seq, s.last_seq) for s in promoted.snapshots] == [(1, 8)]


async def test_turn_is_embedded_with_what_it_answers(
    build: Build, recording: TurnRecording, embedder: HashingEmbedder
) -> None:
    await say(recording, "how many?", "three", "thanks")

    await build().promote_ripe()

    asked = [text for call in embedder.asked for text in call.texts]
    assert asked == ["user: how many?", "user: how many?\nuser: three", "user: three\nuser: thanks"]


async def test_user_with_much_work_waiting_gets_no_more_and_holds_up_nobody(
    build: Build,
    recording: TurnRecording,
    store: Store,
    clock: ManualClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(promotion_module, "MAX_QUEUED_JOBS", 4)
    monkeypatch.setattr(promotion_module, "PAGE", 2)
    promotion = build()
    for number in range(8):
        await say(recording, *"abc", session=f"flood {number}")
    clock.advance(1)
    for word in "abc":
        await recording.record(BOB, a_turn(word, session="of bob"))

    snapshots = [*(await promotion.promote_ripe()).snapshots]
    snapshots += (await promotion.promote_ripe()).snapshots

    assert sorted(snapshot.user_id or "" for snapshot in snapshots) == ["ana", "ana", "bob"]
    flushed = await promotion.flush("p", session_id="flood 7")
    assert len(flushed.snapshots) == 1


async def test_user_gets_more_work_when_some_is_done(
    build: Build,
    recording: TurnRecording,
    store: Store,
    clock: ManualClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(promotion_module, "MAX_QUEUED_JOBS", 2)
    promotion = build()
    await say(recording, *"abcdef")
    assert len((await promotion.promote_ripe()).snapshots) == 1
    assert (await promotion.promote_ripe()).snapshots == []

    job = await store.jobs.claim(
        worker="w",
        kinds=[JobKind.EXTRACT],
        now=clock.now(),
        lease_until=clock.now() + timedelta(minutes=1),
    )
    assert job is not None
    await store.jobs.complete(job, result={}, now=clock.now())

    [snapshot] = (await promotion.promote_ripe()).snapshots
    assert (snapshot.first_seq, snapshot.last_seq) == (4, 6)


async def test_users_take_turns_however_much_one_of_them_said(
    build: Build, recording: TurnRecording, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(promotion_module, "SHARE", 2)
    for number in range(5):
        await say(recording, *"abc", session=f"flood {number}")
    clock.advance(1)
    for word in "abc":
        await recording.record(BOB, a_turn(word, session="of bob"))

    promoted = await build().promote_ripe()

    order = [snapshot.user_id for snapshot in promoted.snapshots]
    assert order == ["ana", "ana", "bob", "ana", "ana", "ana"]
