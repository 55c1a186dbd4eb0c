"""An archive: everything a project remembers, as a file that any store can take in again.

It holds turns, sessions, snapshots, unfinished and failed work, memories in all versions, what
was proposed for them, and their vectors if asked for. Credentials (service accounts, members,
logins) are never part of it, nor are the project's own settings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from memory_server.domain.job import Job, JobKind
from memory_server.domain.memory import Memory
from memory_server.domain.proposal import Proposal
from memory_server.domain.snapshot import SessionState, Snapshot
from memory_server.domain.turn import Turn

FORMAT = "agentengine-memory-archive"
VERSION = 2
"""Grows with each member or kind that is added: an older program refuses what it does not know.

1: the first. 2: proposals, and of evidence who said it and why it was decided so. Members that are
added have a default, so that older archives are read.
"""

TURNS = "turns"
"""What stands among the types for conversations: turns, sessions, snapshots and their work."""

PORTABLE = (JobKind.EXTRACT, JobKind.EMBED, JobKind.CONTEXT)
"""Kinds of jobs that are about what an archive holds; others are about the store they are in."""


class Kind(StrEnum):
    """What one item is; items come in this order.

    Memories and proposals come before the conversations whose work could add to them, turns before
    the snapshot that they are part of, and a snapshot with its work: whoever takes an archive in
    while a server works loses nothing and learns nothing twice.
    """

    MEMORY = "memory"
    PROPOSAL = "proposal"
    SESSION = "session"
    TURN = "turn"
    SNAPSHOT = "snapshot"
    JOB = "job"


class Outcome(StrEnum):
    """What became of an item that was taken in."""

    NEW = "new"
    KNOWN = "known"
    """It is there already, in this state or in a later one; nothing was written."""
    CONFLICT = "conflict"
    """Something else is there in its place; nothing was written."""
    ERASED = "erased"
    """Its user was erased after it was made; nothing was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What of a project an archive holds."""

    project_id: str
    user_id: str | None = None
    """None: everybody's, and nobody's."""
    types: frozenset[str] | None = None
    """`turns`, built-in types, declared types, `custom` for all declared ones; None: all."""
    with_vectors: bool = False

    @property
    def has_turns(self) -> bool:
        """Whether conversations are part of it."""
        return self.types is None or TURNS in self.types

    @property
    def memory_types(self) -> Sequence[str] | None:
        """The types of its memories, sorted; None: all."""
        return None if self.types is None else sorted(self.types - {TURNS})

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out by type."""
        return self.types is None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredVector:
    """A vector, exactly: little-endian float32, with the name of its space."""

    space: str
    data: bytes = field(repr=False)

    @property
    def dimension(self) -> int:
        """How many numbers it has."""
        return len(self.data) // 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedMemory:
    """One version of a memory; `root_id` is the id under which the memory is known."""

    memory: Memory
    root_id: str
    vectors: Sequence[StoredVector] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedProposal:
    """What was proposed to be remembered, and what was decided on it."""

    proposal: Proposal


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedSession:
    """A session's counters."""

    session: SessionState


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedTurn:
    """A turn. One that is part of no snapshot waits to be promoted."""

    turn: Turn
    vectors: Sequence[StoredVector] = ()
    snapshot_follows: bool = False
    """Whether its snapshot is in the archive too; else it is gone, or another user's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedSnapshot:
    """A snapshot with its unfinished and failed jobs: one cannot be without the other."""

    snapshot: Snapshot
    jobs: Sequence[Job] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedJob:
    """An unfinished or failed job of no snapshot."""

    job: Job


Item = (
    ArchivedMemory
    | ArchivedProposal
    | ArchivedSession
    | ArchivedTurn
    | ArchivedSnapshot
    | ArchivedJob
)

ITEM_TYPES: Mapping[Kind, type[Item]] = {
    Kind.MEMORY: ArchivedMemory,
    Kind.PROPOSAL: ArchivedProposal,
    Kind.SESSION: ArchivedSession,
    Kind.TURN: ArchivedTurn,
    Kind.SNAPSHOT: ArchivedSnapshot,
    Kind.JOB: ArchivedJob,
}
KINDS: Mapping[type[Item], Kind] = {made: kind for kind, made in ITEM_TYPES.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The first line of an archive."""

    format: str = FORMAT
    version: int = VERSION
    project_id: str
    exported_at: datetime
    spaces: Sequence[str] = ()
    """The embedding spaces of its vectors, by name; none where it has no vectors."""
    user_id: str | None = None
    types: Sequence[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """The last line: without it the archive was cut short."""

    counts: Mapping[str, int]
    """Items by kind."""
    digest: str
    """SHA-256 of all lines before it, in hexadecimal."""


def owner_of(item: Item) -> tuple[str | None, datetime]:
    """Return whose an item is, and when it was made; of a session, when it was last used."""
    match item:
        case (
            ArchivedMemory(memory=made)
            | ArchivedProposal(proposal=made)
            | ArchivedTurn(turn=made)
            | ArchivedSnapshot(snapshot=made)
            | ArchivedJob(job=made)
        ):
            return made.user_id, made.created_at
        case ArchivedSession(session=session):
            return session.user_id, session.last_activity


def project_of(item: Item) -> str:
    """Return the project an item is of."""
    match item:
        case (
            ArchivedMemory(memory=made)
            | ArchivedProposal(proposal=made)
            | ArchivedTurn(turn=made)
            | ArchivedSnapshot(snapshot=made)
            | ArchivedJob(job=made)
            | ArchivedSession(session=made)
        ):
            return made.project_id


def id_of(item: Item) -> str:
    """Return the id of an item, for people."""
    match item:
        case (
            ArchivedMemory(memory=made)
            | ArchivedProposal(proposal=made)
            | ArchivedTurn(turn=made)
            | ArchivedSnapshot(snapshot=made)
            | ArchivedJob(job=made)
        ):
            return made.id
        case ArchivedSession(session=session):
            return session.session_id
