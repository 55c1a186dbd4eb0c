"""Which run of waiting turns becomes the next snapshot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from memory_server.domain.embedding import Vector
from memory_server.domain.snapshot import Trigger
from memory_server.domain.turn import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotionPolicy:
    """When turns are ripe."""

    max_messages: int
    stale_after: timedelta
    embed_before_promotion: bool = True
    topic_shift_threshold: float | None = None
    """Cosine distance from which the topic has shifted; None: topics are not watched."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run of turns to promote, and why."""

    turns: Sequence[Turn]
    trigger: Trigger


def next_run(
    waiting: Sequence[Turn],
    policy: PromotionPolicy,
    *,
    settled: Trigger | None,
    vectors: Mapping[str, Vector],
) -> Run | None:
    """Return the run at the head of the waiting turns that is ripe now, or None.

    `waiting` begins right after the last promoted turn. A run never mixes users. `settled`
    is IDLE or FLUSH when nothing more is to be waited for, so that an unfinished run goes too.
    """
    own = _same_user(waiting)
    shift = _topic_shift(own[: policy.max_messages], policy, vectors)
    if shift is not None:
        return Run(own[:shift], Trigger.TOPIC_SHIFT)
    if len(waiting) >= policy.max_messages:
        return Run(own[: policy.max_messages], Trigger.SIZE)
    return Run(own, settled) if own and settled else None


def _same_user(turns: Sequence[Turn]) -> Sequence[Turn]:
    for position, turn in enumerate(turns):
        if turn.user_id != turns[0].user_id:
            return turns[:position]
    return turns


def _topic_shift(
    turns: Sequence[Turn], policy: PromotionPolicy, vectors: Mapping[str, Vector]
) -> int | None:
    """Return the position of the first turn that is far from the mean of those before it."""
    if policy.topic_shift_threshold is None:
        return None
    total: Vector | None = None
    for position, turn in enumerate(turns):
        vector = vectors.get(turn.id)
        if vector is None:
            continue
        if total is None:
            total = vector
            continue
        distance = 1.0 - float(total @ vector) / float(np.linalg.norm(total) or 1.0)
        if distance > policy.topic_shift_threshold:
            return position
        total = total + vector
    return None
