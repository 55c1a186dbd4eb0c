"""What travels over the wire, as the client hands it out: JSON objects with known keys."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict


class RecordedTurn(TypedDict):
    """The server's receipt for a turn."""

    id: str
    session_id: str
    turn_seq: int
    acknowledged: bool
    has_embedding: bool
    duplicate: NotRequired[bool]
    """Whether the idempotency key was known, so that nothing was written."""


class QueueStats(TypedDict):
    """How much background work there is on the whole server."""

    queued: int
    running: int
    failed: int


class EvidenceTurn(TypedDict):
    """A turn a memory was learned from."""

    id: str
    turn_seq: int
    role: str
    speaker: str
    said_at: str
    content: str


class EvidenceDocument(TypedDict):
    """Where a memory comes from."""

    snapshot_id: str
    session_id: str
    turns: Sequence[EvidenceTurn]
    missing_turns: int
    """Turns whose words are gone."""
    speakers: Sequence[str]
    said_at: str | None
    extractor: str
    learned_at: str
    action: str
    reason: str


class VersionDocument(TypedDict):
    """One former version of a memory."""

    version: int
    content: str
    valid_from: str
    valid_to: str | None
    evidence: Sequence[EvidenceDocument]


class EventTimeDocument(TypedDict):
    """When the thing remembered took place."""

    start: str
    end: str
    precision: str
    """day, weekend, week, month, year, decade, days; moment: hours or minutes of a day."""
    in_words: str
    """Such as "in the week of 2 March 2026"."""
    words: str
    """As it was said."""


class MemoryDocument(TypedDict):
    """A memory with where it comes from and what it said before."""

    id: str
    type: str
    content: str
    user_id: str | None
    visibility: str
    version: int
    is_latest: bool
    deleted: bool
    valid_from: str
    valid_to: str | None
    reinforcement_count: int
    event_time: NotRequired[EventTimeDocument | None]
    evidence: NotRequired[Sequence[EvidenceDocument]]
    history: NotRequired[Sequence[VersionDocument]]
    label: NotRequired[str]
    title: NotRequired[str]
    domain: NotRequired[str]
    term: NotRequired[str]
    procedure: NotRequired[str]
    tags: NotRequired[Mapping[str, Any]]
    """Of a record of a type that the project declares."""


class DecisionDocument(TypedDict):
    """What was decided on a memory when something was said."""

    action: str
    reason: str
    extractor: str
    snapshot_id: str
    learned_at: str


class PastDocument(TypedDict):
    """One version of a memory, with the fields of its type."""

    id: str
    type: str
    version: int
    is_latest: bool
    superseded_by: str | None
    """None of the last version, live or taken back."""
    valid_from: str
    valid_to: str | None
    event_time: EventTimeDocument | None
    decisions: Sequence[DecisionDocument]
    text: NotRequired[str]
    title: NotRequired[str]
    content: NotRequired[str]
    domain: NotRequired[str]
    term: NotRequired[str]
    definition: NotRequired[str]
    procedure: NotRequired[str]


class FoundMemory(TypedDict):
    """A piece of memory that a search found."""

    id: str
    content: str
    source: str
    timestamp: str
    similarity_score: NotRequired[float]
    """0 to 1, higher is better."""
    metadata: Mapping[str, Any]


class FoundRecord(TypedDict):
    """A record, of a type that the project declares, that a search found."""

    id: str
    type: str
    content: str
    tags: Mapping[str, Any]
    contextual_metadata: Mapping[str, Any]
    user_id: str | None
    agent_id: str | None
    score: float | None
    """0 to 1, higher is better."""


class SaidDocument(TypedDict):
    """One message of an exchange."""

    id: str
    role: str
    speaker: str
    content: str
    position: int
    """In the exchange, from 1."""


class BlockDocument(TypedDict):
    """A block: an exchange of a conversation from one viewpoint."""

    id: str
    exchange_id: str
    viewpoint: str
    speaker: str
    conversation_id: str
    position: int
    """The exchange's number in the conversation, from 1."""
    message: str
    messages: Sequence[SaidDocument]
    summary: str
    contexts: Sequence[str]
    annotations: Mapping[str, Any]
    metadata: Mapping[str, Any]
    user_id: str | None
    agent_id: str | None
    extraction: NotRequired[str]
    event_time: NotRequired[str | None]
    created_at: NotRequired[str]
    has_embedding: NotRequired[bool]
    timestamp: NotRequired[str]
    similarity_score: NotRequired[float | None]
    """0 to 1, higher is better; of a block that a search found."""


class ExchangeDocument(TypedDict):
    """A stored exchange and its blocks."""

    exchange_id: str
    conversation_id: str
    position: int
    message_ids: Sequence[str]
    blocks: Sequence[BlockDocument]


class RecordedBlocks(TypedDict):
    """The server's receipt for exchanges."""

    exchanges: Sequence[ExchangeDocument]
    count: int
    duplicate: bool
    extraction: str
    timing: Mapping[str, float]
    """Milliseconds by stage."""


class FoundBlocks(TypedDict):
    """What a search among blocks found, the best first."""

    blocks: Sequence[BlockDocument]
    count: int
    warnings: Sequence[str]
    degraded: str | None
    timing: Mapping[str, float]
    """Milliseconds by stage."""


class BuiltContext(TypedDict):
    """A context, ready for a prompt."""

    formatted_context: str | Sequence[Mapping[str, Any]]
    metadata: Mapping[str, Any]
    """`token_count`, `timing` in seconds by stage, `source_outcomes`, `warnings` and more."""
    selected_memories: NotRequired[Sequence[FoundMemory] | None]
    """In the order of the context, if they were asked for."""


class Flushed(TypedDict):
    """What a flush promoted."""

    snapshots: int
    jobs: int
    warnings: NotRequired[Sequence[str]]
    """Sessions that could not be reached, and why."""


class JobDocument(TypedDict):
    """One job of the queue."""

    id: str
    kind: str
    type: NotRequired[str | None]
    state: str
    attempts: int
    user_id: str | None
    session_id: NotRequired[str | None]
    created_at: NotRequired[str]
    due_at: str
    finished_at: NotRequired[str | None]
    error_code: str | None
    error: str | None
    result: NotRequired[Mapping[str, Any]]


class JobCountsDocument(TypedDict):
    """Jobs by state."""

    queued: int
    running: int
    failed: int
    done: int


class JobList(TypedDict):
    """Jobs, the newest first, and how many there are of each state."""

    jobs: Sequence[JobDocument]
    counts: JobCountsDocument
    spending: NotRequired[Mapping[str, Any]]
    """What the project took of the extraction model, and its budget."""


class Token(TypedDict):
    """An access token."""

    access_token: str
    token_type: str
    expires_in: int


class AccountDocument(TypedDict):
    """A service account; never its secret."""

    client_id: str
    name: str
    is_active: bool
    description: NotRequired[str]
    roles: NotRequired[Sequence[str]]
    ip_access_list: NotRequired[Sequence[str]]
    created_at: NotRequired[str]
    secret_expires_at: NotRequired[str | None]
    last_used_at: NotRequired[str | None]


class IssuedAccount(TypedDict):
    """A service account and its new secret, which is told only now."""

    client_secret: str
    service_account: AccountDocument


class InvokeAnswer(TypedDict):
    """What the agent answered, and as whom it remembered."""

    success: bool
    response: str
    execution_id: str
    status: str
    session_id: NotRequired[str | None]
    user_id: NotRequired[str | None]
    identity: NotRequired[Mapping[str, Any]]
    warnings: NotRequired[Sequence[str]]
    answered_by: NotRequired[str]
    context: NotRequired[Mapping[str, Any]]


class StreamFrame(TypedDict):
    """One frame of a streamed answer: `text`, `step`, `done` or `error`."""

    chunk_type: str
    content: NotRequired[str | None]
    metadata: NotRequired[Mapping[str, Any] | None]
    execution_id: NotRequired[str | None]


class Erased(TypedDict, total=False):
    """What an erasure removed, by kind, and whether the disk still holds traces of it."""

    deleted: Mapping[str, int]
    traces: str


class PrincipalDocument(TypedDict):
    """Who a token speaks for."""

    kind: str
    id: str
    role: NotRequired[str | None]
    project_id: NotRequired[str | None]
    org_id: NotRequired[str | None]


class Session(TypedDict):
    """The tokens of a login."""

    access_token: str
    refresh_token: NotRequired[str | None]
    token_type: str
    expires_in: int
    """Seconds."""
    principal: NotRequired[PrincipalDocument]


class ProjectDocument(TypedDict):
    """A project and its rules."""

    id: str
    name: str
    org_id: str
    description: NotRequired[str | None]
    enforce_identity: NotRequired[bool]
    allow_delegation: NotRequired[bool]
    created_at: NotRequired[str]
    updated_at: NotRequired[str]


class ProjectList(TypedDict):
    """The projects the caller may see."""

    projects: Sequence[ProjectDocument]
    total: NotRequired[int]


class MemberDocument(TypedDict):
    """A person of a project."""

    user_id: str
    role: str
    created_at: NotRequired[str]
    updated_at: NotRequired[str]


class NewMember(TypedDict):
    """A person of a project, and their password if one was made: it is told only now."""

    member: MemberDocument
    password: NotRequired[str | None]
