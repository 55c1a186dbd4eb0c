"""What operators see, on the wire."""

from dataclasses import asdict
from typing import Any

from pydantic import Field

from memory_server.api.schemas.common import Answer, Body, Id
from memory_server.api.schemas.memories import document, lineage
from memory_server.domain.job import Job, JobCounts, outcome
from memory_server.domain.memory import (
    Block,
    Episode,
    Evidence,
    Fact,
    Memory,
    Procedure,
    Record,
    Term,
)
from memory_server.domain.spending import Usage
from memory_server.domain.turn import Turn
from memory_server.services.administration import Remembered
from memory_server.services.spending import ProjectSpending


class QueueStats(Answer):
    """Jobs by state, of the whole server."""

    queued: int
    running: int
    failed: int


class CountsDocument(QueueStats):
    """Jobs by state, of the project."""

    done: int
    oldest_queued_at: str | None

    @classmethod
    def of(cls, counts: JobCounts) -> "CountsDocument":
        """Return counts as they travel."""
        oldest = counts.oldest_queued_at
        return cls(
            queued=counts.queued,
            running=counts.running,
            failed=counts.failed,
            done=counts.done,
            oldest_queued_at=oldest.isoformat() if oldest else None,
        )


class JobDocument(Answer):
    """One job."""

    id: str
    kind: str
    type: str | None
    state: str
    attempts: int
    user_id: str | None
    session_id: str | None
    created_at: str
    due_at: str
    finished_at: str | None
    error_code: str | None
    error: str | None
    result: dict[str, Any]
    """What came of it: of a model, `calls`, `input_tokens` and `output_tokens` of all attempts; of
    an extraction that failed the `raw` answer that could not be used, if there was one; of one that
    is done the `rejected` items, each with its `reason` and `raw`."""

    @classmethod
    def of(cls, job: Job) -> "JobDocument":
        """Return a job as it travels; the texts it works on stay inside."""
        return cls(
            id=job.id,
            kind=job.kind.value,
            type=job.payload.get("type"),
            state=job.state.value,
            attempts=job.attempts,
            user_id=job.user_id,
            session_id=job.payload.get("session_id"),
            created_at=job.created_at.isoformat(),
            due_at=job.due_at.isoformat(),
            finished_at=job.finished_at.isoformat() if job.finished_at else None,
            error_code=job.error_code,
            error=job.error,
            result=dict(outcome(job)),
        )


class UsageDocument(Answer):
    """What was taken of the extraction model."""

    calls: int
    """Those that failed are among them."""
    input_tokens: int
    output_tokens: int

    @classmethod
    def of(cls, usage: Usage) -> "UsageDocument":
        """Return usage as it travels."""
        return cls(**asdict(usage))


class BudgetDocument(Answer):
    """How much a project may take within a clock hour; null is no bound."""

    calls_per_hour: int | None
    tokens_per_hour: int | None


class SpendingDocument(Answer):
    """What the project took of the extraction model, over all servers."""

    this_hour: UsageDocument
    today: UsageDocument
    """Since midnight, UTC."""
    budget: BudgetDocument
    waiting: str | None
    """Why extraction waits, if the budget is spent, and until when."""
    waiting_until: str | None

    @classmethod
    def of(cls, spending: ProjectSpending) -> "SpendingDocument":
        """Return spending as it travels."""
        return cls(
            this_hour=UsageDocument.of(spending.this_hour),
            today=UsageDocument.of(spending.today),
            budget=BudgetDocument(
                calls_per_hour=spending.budget.calls, tokens_per_hour=spending.budget.tokens
            ),
            waiting=spending.waiting,
            waiting_until=spending.waiting_until.isoformat() if spending.waiting_until else None,
        )


class Jobs(Answer):
    """Jobs, the newest first, how many there are of each state, and what they took of the model."""

    jobs: list[JobDocument]
    counts: CountsDocument
    spending: SpendingDocument


class Retried(Answer):
    """How many failed jobs were queued again."""

    retried: int


class FlushBody(Body):
    """What to promote; with neither, everything that waits.

    With a user, only their turns at the head of a session: those behind another user's wait.
    """

    session_id: Id | None = None
    user_id: Id | None = None


class Flushed(Answer):
    """What a flush promoted."""

    snapshots: int
    jobs: int
    warnings: list[str] = Field(default_factory=list)
    """Sessions that could not be reached, and why."""


class Erased(Answer):
    """What an erasure removed, by kind, and whether the disk still holds traces of it."""

    deleted: dict[str, int]
    traces: str
    """`none`, or `being removed`: nobody finds them; `/ready` says when they are gone."""


class EvidenceTurn(Answer):
    """A turn that a memory rests on."""

    id: str
    turn_seq: int
    role: str
    speaker: str
    """The name shown for the speaker, else the role."""
    said_at: str
    """When it was said, as its source tells; else when it was recorded."""
    content: str

    @classmethod
    def of(cls, turn: Turn) -> "EvidenceTurn":
        """Return a turn as it travels."""
        return cls(
            id=turn.id,
            turn_seq=turn.turn_seq,
            role=turn.role.value,
            speaker=turn.speaker,
            said_at=(turn.event_time or turn.created_at).isoformat(),
            content=turn.content,
        )


class EvidenceDocument(Answer):
    """Where a memory comes from."""

    snapshot_id: str
    session_id: str
    turns: list[EvidenceTurn]
    missing_turns: int
    """Turns whose words are gone: expired, or removed after their promotion."""
    speakers: list[str]
    """Who said it; empty where it was not noted."""
    said_at: str | None
    """When it was last said."""
    extractor: str
    learned_at: str
    action: str
    """ADD, UPDATE, REINFORCE or RETRACT; empty where it was not noted."""
    reason: str


class VersionDocument(Answer):
    """One former version."""

    version: int
    content: str
    valid_from: str
    valid_to: str | None
    evidence: list[EvidenceDocument]


class Shown(Answer):
    """Memories with where they come from and what they said before."""

    memories: list[dict[str, Any]] = Field(default_factory=list)
    counts: dict[str, int] = Field(default_factory=dict)
    """How many live memories there are of each type, whatever was asked for."""


class History(Answer):
    """Every version of one memory, the oldest first."""

    versions: list[dict[str, Any]]


def shown(remembered: Remembered) -> dict[str, Any]:
    """Return a memory with its evidence and history."""
    memory = remembered.memory
    return {
        "id": memory.id,
        "type": memory.type_name,
        "content": memory.body.chunk_text,
        **_named(memory),
        "user_id": memory.user_id,
        "session_id": memory.session_id,
        "visibility": memory.visibility.value,
        "is_latest": memory.is_latest,
        "deleted": memory.deleted,
        "has_embedding": memory.has_embedding,
        **lineage(memory),
        "evidence": [one.model_dump() for one in _evidence(memory, remembered)],
        "history": [_version(one, remembered).model_dump() for one in remembered.history],
    }


def decided(version: Memory, org_id: str) -> dict[str, Any]:
    """Return a version with what was decided on it, and why, the latest last."""
    decisions = [
        {
            "action": evidence.action,
            "reason": evidence.reason,
            "extractor": evidence.extractor,
            "snapshot_id": evidence.snapshot_id,
            "learned_at": evidence.learned_at.isoformat(),
        }
        for evidence in version.evidence
    ]
    return {**document(version, org_id), "decisions": decisions}


def _named(memory: Memory) -> dict[str, Any]:
    match memory.body:
        case Fact(label=label):
            return {"label": label}
        case Episode(title=title):
            return {"title": title}
        case Term(domain=domain, term=term):
            return {"domain": domain, "term": term}
        case Procedure(procedure=procedure):
            return {"procedure": procedure}
        case Record(tags=tags):
            return {"tags": dict(tags)}
        case Block(viewpoint=viewpoint, conversation_id=conversation_id, position=position):
            return {
                "viewpoint": viewpoint,
                "conversation_id": conversation_id,
                "position": position,
            }


def _evidence(version: Memory, remembered: Remembered) -> list[EvidenceDocument]:
    return [_source(evidence, remembered) for evidence in version.evidence]


def _source(evidence: Evidence, remembered: Remembered) -> EvidenceDocument:
    turns = [remembered.turns[turn] for turn in evidence.turn_ids if turn in remembered.turns]
    return EvidenceDocument(
        snapshot_id=evidence.snapshot_id,
        session_id=evidence.session_id,
        turns=[EvidenceTurn.of(turn) for turn in turns],
        missing_turns=len(evidence.turn_ids) - len(turns),
        speakers=list(evidence.speakers),
        said_at=evidence.event_time.isoformat() if evidence.event_time else None,
        extractor=evidence.extractor,
        learned_at=evidence.learned_at.isoformat(),
        action=evidence.action,
        reason=evidence.reason,
    )


def _version(version: Memory, remembered: Remembered) -> VersionDocument:
    return VersionDocument(
        version=version.version,
        content=version.body.chunk_text,
        valid_from=version.valid_from.isoformat(),
        valid_to=version.valid_to.isoformat() if version.valid_to else None,
        evidence=_evidence(version, remembered),
    )
