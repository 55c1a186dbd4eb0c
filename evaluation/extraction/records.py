"""What came of one case on a server: a line of `cases.jsonl`."""

from collections.abc import Sequence
from datetime import datetime

from evaluation.records import Record


class StoredMemory(Record):
    """One memory of the case's user, as it stands when everything is done."""

    id: str
    type: str
    text: str
    """What it says, or said last before it was taken back."""
    is_live: bool
    former: Sequence[str] = ()
    """What its former versions say, the oldest first."""
    actions: Sequence[str] = ()
    """What was decided on it, in order; SKIP is none."""
    start: datetime | None = None
    end: datetime | None = None
    """Event time, the end exclusive; None: it has none."""


class CaseRecord(Record):
    """One case that was recorded whole, with all background work done."""

    configuration: str
    """Digest of what decides the outcome: server, configuration, program."""
    case: str
    digest: str
    """Of what is said in the case and when; labels may change without it."""
    memories: Sequence[StoredMemory]
    as_of: Sequence[Sequence[str]] = ()
    """What each search as of a moment found, in the order of the label's list."""
    failed: Sequence[str] = ()
    """Jobs that failed for good, with the reason."""
    extractors: Sequence[str] = ()
    """Names and versions of what extracted."""
    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
