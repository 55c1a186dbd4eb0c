"""What extraction left out of the conversations it read, in words."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MOST_TOLD = 5
"""Reasons that are told; `--json` has them all, each with the words it is about."""


def left_out(job: Mapping[str, Any]) -> int | None:
    """Return how many items or parts of turns a job left out; None: none."""
    return len(_rejected(job)) or None


def told_left_out(jobs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield why jobs left something out, the most frequent reason first."""
    reasons = Counter(str(one.get("reason")) for job in jobs for one in _rejected(job))
    for reason, times in reasons.most_common(MOST_TOLD):
        yield f"left out{f' ({times} times)' if times > 1 else ''}: {reason}"
    if more := len(reasons) - MOST_TOLD if len(reasons) > MOST_TOLD else 0:
        yield f"left out: {more} more reasons; --json has all, with what they are about"


def _rejected(job: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return (job.get("result") or {}).get("rejected") or ()
