"""Promotion by command."""

from collections.abc import Sequence

import pytest

from memory_server.domain.job import Job
from memory_server.domain.snapshot import Snapshot
from memory_server.ports.store import Store
from memory_server.services import promotion as promotion_module
from memory_server.services.turns import TurnRecording
from tests.unit.memory_server.services.conftest import ANA, BOB, a_turn
from tests.unit.memory_server.services.promotion.steps import Build, say
from tests.unit.memory_server.services.promotion.test_promotion import break_session


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


async def test_flush_of_a_user_never_takes_others_turns_and_says_what_it_left(
    build: Build, recording: TurnRecording
) -> None:
    for scope, line in ((ANA, "a"), (BOB, "b"), (ANA, "c")):
        await recording.record(scope, a_turn(line, session="shared"))
    promotion = build()

    anas = await promotion.flush("p", user_id="ana")
    bobs = await promotion.flush("p", user_id="bob")

    assert [(s.user_id, s.last_seq) for s in anas.snapshots] == [("ana", 1)]
    assert "'shared'" in anas.warnings[0]
    assert "up to 3" in anas.warnings[0]
    assert [(s.user_id, s.last_seq) for s in bobs.snapshots] == [("bob", 2)]
    assert list(bobs.warnings) == []


async def test_flush_of_one_session_and_user_is_decided_by_run_too(
    build: Build, recording: TurnRecording
) -> None:
    await recording.record(BOB, a_turn("b", session="shared"))
    await recording.record(ANA, a_turn("a", session="shared"))

    promoted = await build().flush("p", session_id="shared", user_id="ana")

    assert (promoted.snapshots, len(promoted.warnings)) == ([], 1)


async def test_flush_reaches_every_session_however_many_there_are(
    build: Build, recording: TurnRecording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(promotion_module, "PAGE", 2)
    for number in range(7):
        scope = ANA if number % 3 else BOB
        await recording.record(scope, a_turn("x", session=f"s{number}"))
    promotion = build()

    anas = await promotion.flush("p", user_id="ana")
    rest = await promotion.flush("p")

    assert [s.session_id for s in anas.snapshots] == ["s1", "s2", "s4", "s5"]
    assert [s.session_id for s in rest.snapshots] == ["s0", "s3", "s6"]


async def test_flush_says_which_session_failed_and_goes_on(
    build: Build, recording: TurnRecording, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await say(recording, "a", session="s1")
    await say(recording, "b", session="s2")
    break_session(store, monkeypatch, "s1", ZeroDivisionError())

    promoted = await build().flush("p")

    assert [s.session_id for s in promoted.snapshots] == ["s2"]
    assert ["'s1'" in warning for warning in promoted.warnings] == [True]


async def test_flush_promotes_what_is_left_behind_a_run_that_another_took_meanwhile(
    build: Build, recording: TurnRecording, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await say(recording, *"abcde")
    promote = store.snapshots.promote

    async def another_was_faster(snapshot: Snapshot, jobs: Sequence[Job]) -> None:
        monkeypatch.setattr(store.snapshots, "promote", promote)
        await build().promote_ripe()
        await promote(snapshot, jobs)

    monkeypatch.setattr(store.snapshots, "promote", another_was_faster)
    flushed = await build().flush("p")

    session = await store.snapshots.session("p", "s1")
    assert session is not None
    assert session.unpromoted == 0
    assert [(one.first_seq, one.last_seq) for one in flushed.snapshots] == [(4, 5)]
    assert list(flushed.warnings) == []


async def test_flush_of_an_unknown_session_is_nothing(build: Build) -> None:
    assert not (await build().flush("p", session_id="nobody")).snapshots
