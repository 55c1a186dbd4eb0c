from datetime import UTC, datetime, timedelta

import numpy as np

from memory_server.domain.embedding import Vector
from memory_server.domain.promotion import PromotionPolicy, next_run
from memory_server.domain.snapshot import Trigger
from memory_server.domain.turn import Role, Turn

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


def policy(max_messages: int = 3, threshold: float | None = None) -> PromotionPolicy:
    return PromotionPolicy(
        max_messages=max_messages,
        stale_after=timedelta(minutes=3),
        topic_shift_threshold=threshold,
    )


def turns(*users: str) -> list[Turn]:
    return [
        Turn(
            id=f"t{seq}",
            project_id="p",
            session_id="s",
            role=Role.USER,
            content=f"line {seq}",
            created_at=NOON,
            user_id=user,
            turn_seq=seq,
        )
        for seq, user in enumerate(users, start=1)
    ]


def vectors(*angles: float) -> dict[str, Vector]:
    return {
        f"t{seq}": np.array([np.cos(angle), np.sin(angle)], dtype=np.float32)
        for seq, angle in enumerate(angles, start=1)
    }


def test_too_few_turns_wait() -> None:
    assert next_run(turns("ana", "ana"), policy(), settled=None, vectors={}) is None


def test_enough_turns_are_promoted_by_size() -> None:
    run = next_run(turns("ana", "ana", "ana", "ana"), policy(), settled=None, vectors={})

    assert run is not None
    assert (len(run.turns), run.trigger) == (3, Trigger.SIZE)


def test_few_turns_are_promoted_when_idle() -> None:
    run = next_run(turns("ana", "ana"), policy(), settled=Trigger.IDLE, vectors={})

    assert run is not None
    assert (len(run.turns), run.trigger) == (2, Trigger.IDLE)


def test_run_ends_where_the_user_changes() -> None:
    run = next_run(turns("ana", "bob", "bob"), policy(), settled=None, vectors={})

    assert run is not None
    assert [turn.user_id for turn in run.turns] == ["ana"]


def test_nothing_waiting_is_nothing_to_promote() -> None:
    assert next_run([], policy(), settled=Trigger.FLUSH, vectors={}) is None


def test_run_ends_where_the_topic_shifts() -> None:
    run = next_run(
        turns("ana", "ana", "ana"),
        policy(max_messages=20, threshold=0.35),
        settled=None,
        vectors=vectors(0.0, 0.1, 1.5),
    )

    assert run is not None
    assert (len(run.turns), run.trigger) == (2, Trigger.TOPIC_SHIFT)


def test_steady_topic_waits() -> None:
    run = next_run(
        turns("ana", "ana", "ana"),
        policy(max_messages=20, threshold=0.35),
        settled=None,
        vectors=vectors(0.0, 0.1, 0.2),
    )

    assert run is None


def test_turns_without_vectors_shift_no_topic() -> None:
    run = next_run(
        turns("ana", "ana"), policy(max_messages=20, threshold=0.35), settled=None, vectors={}
    )

    assert run is None
