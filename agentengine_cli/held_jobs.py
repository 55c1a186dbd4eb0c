"""Which queued jobs nobody tries before a moment, and what they wait for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory_server.client import JobDocument

BUDGET_SPENT = "BUDGET_SPENT"
_LEFT_ALONE = "open"
"""The state of a circuit in which no call is made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Jobs that wait for the same thing."""

    jobs: int
    reason: str
    until: datetime

    def document(self) -> Mapping[str, Any]:
        """Return it for programs."""
        return {"jobs": self.jobs, "reason": self.reason, "until": self.until.isoformat()}

    def told(self) -> str:
        """Say it."""
        jobs = "1 job waits" if self.jobs == 1 else f"{self.jobs} jobs wait"
        return f"{jobs} until {self.until:%Y-%m-%d %H:%M:%S} UTC: {self.reason}"


def held_jobs(
    queued: "Sequence[JobDocument]",
    *,
    spending: Mapping[str, Any],
    circuit: Mapping[str, Any],
    now: datetime,
) -> tuple[Sequence[Held], int]:
    """Return what holds up queued jobs, the soonest first, and how many nothing holds up.

    `spending` is what the server tells of the project's budget, `circuit` of its extraction model.
    """
    by_reason: dict[str, Held] = {}
    held_queues: dict[tuple[str | None, str | None], Held] = {}
    free = 0
    for job in sorted(queued, key=lambda job: str(job.get("created_at"))):
        queue = (job["user_id"], job.get("type"))
        held = _held(job, spending, circuit) or held_queues.get(queue)
        if held is None or held.until <= now:
            free += 1
            continue
        if job["user_id"] is not None:  # jobs of one user and type wait for each other
            held_queues.setdefault(queue, held)
        known = by_reason.get(held.reason, replace(held, jobs=0))
        by_reason[held.reason] = replace(
            known, jobs=known.jobs + 1, until=min(known.until, held.until)
        )
    return sorted(by_reason.values(), key=lambda held: held.until), free


def _held(
    job: "JobDocument", spending: Mapping[str, Any], circuit: Mapping[str, Any]
) -> Held | None:
    return max(_reasons(job, spending, circuit), key=lambda held: held.until, default=None)


def _reasons(
    job: "JobDocument", spending: Mapping[str, Any], circuit: Mapping[str, Any]
) -> Iterator[Held]:
    if job["error_code"] == BUDGET_SPENT:
        until = spending.get("waiting_until") or job["due_at"]
        yield Held(jobs=1, reason=str(job["error"]), until=datetime.fromisoformat(until))
    elif job["error_code"]:
        reason = f"{job['error_code']}: {job['error']}"
        yield Held(jobs=1, reason=reason, until=datetime.fromisoformat(job["due_at"]))
    if circuit.get("state") == _LEFT_ALONE:
        reason = (
            f"the extraction model is left alone, because {circuit.get('because')}; "
            f"{circuit.get('to_do')}"
        )
        yield Held(jobs=1, reason=reason, until=datetime.fromisoformat(circuit["next_probe"]))
