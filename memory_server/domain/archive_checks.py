"""What an item of an archive must be beside its form, whoever wrote the file.

Nothing of it may be what a store cannot hold, a search cannot compare, or a worker cannot read.
"""

import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from memory_server.domain.archive import (
    PORTABLE,
    ArchivedJob,
    ArchivedMemory,
    ArchivedProposal,
    ArchivedSession,
    ArchivedSnapshot,
    ArchivedTurn,
    Item,
    StoredVector,
)
from memory_server.domain.characters import whole
from memory_server.domain.job import Job, JobKind, JobState
from memory_server.domain.memory import BUILT_IN, Block
from memory_server.domain.proposal import Proposal, ProposalState
from memory_server.errors import InvalidArchive

LARGEST = 2**53
"""Of the numbers that count something: there is room above it in every store."""
DEEPEST = 64
"""Levels of a member that is free JSON; databases hold a hundred with what is around it."""

_TEXTS: Mapping[JobKind, Sequence[str]] = {
    JobKind.EXTRACT: ("snapshot_id", "session_id", "type"),
    JobKind.EMBED: ("memory_id", "type"),
    JobKind.CONTEXT: ("type",),
}
"""What the payload of each kind of job names."""


def check_text(text: str, where: str) -> None:
    """Raise `InvalidArchive` for halves of characters, which cannot be stored."""
    if whole(text) != text:
        raise InvalidArchive(f"{where} holds half a character, which cannot be stored")


def check_count(number: int, where: str) -> None:
    """Raise `InvalidArchive` for what counts nothing."""
    if not 0 <= number <= LARGEST:
        raise InvalidArchive(f"{where} has to be from 0 to {LARGEST}")


def check_json(value: Any, where: str) -> None:
    """Raise `InvalidArchive` for JSON that is too deep, or holds what no JSON can."""
    level = [value]
    for _ in range(DEEPEST + 1):
        for one in level:
            if isinstance(one, str):
                check_text(one, where)
            elif isinstance(one, float) and not math.isfinite(one):
                raise InvalidArchive(f"{where} holds a number that is not finite")
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return
    raise InvalidArchive(f"{where} is nested more than {DEEPEST} levels deep")


def check_vector(data: bytes, where: str) -> None:
    """Raise `InvalidArchive` for what is no vector of finite float32."""
    if not data or len(data) % 4:
        raise InvalidArchive(f"{where} is no vector of float32")
    if not all(map(math.isfinite, struct.unpack(f"<{len(data) // 4}f", data))):
        raise InvalidArchive(f"{where} holds a number that is not finite")


def check_item(item: Item, where: str) -> None:
    """Raise `InvalidArchive` unless the members of an item agree with each other."""
    match item:
        case ArchivedMemory():
            _check_memory(item, where)
        case ArchivedProposal(proposal=proposal):
            _check_proposal(proposal, where)
        case ArchivedTurn():
            _check_spaces(item.vectors, where)
            if not item.turn.turn_seq:
                raise InvalidArchive(f"{where}: turn_seq begins at 1")
        case ArchivedSession(session=session) if session.promoted_seq > session.last_seq:
            raise InvalidArchive(f"{where}: promoted_seq is beyond last_seq")
        case ArchivedSnapshot():
            _check_snapshot(item, where)
        case ArchivedJob(job=job):
            _check_job(job, where)


def _check_memory(item: ArchivedMemory, where: str) -> None:
    memory = item.memory
    _check_spaces(item.vectors, where)
    if not memory.version or not memory.revision:
        raise InvalidArchive(f"{where}: version and revision begin at 1")
    if memory.id != item.root_id and memory.is_latest:
        raise InvalidArchive(f"{where}: is_latest: a former version of a memory is not")
    if isinstance(memory.body, Block) and not (memory.body.position and memory.body.messages):
        raise InvalidArchive(f"{where}: an exchange has messages and a position from 1")


def _check_proposal(proposal: Proposal, where: str) -> None:
    candidates = {"candidate": proposal.candidate, "original": proposal.original}
    for name, candidate in candidates.items():
        if candidate is None:
            continue
        if candidate.type not in BUILT_IN or candidate.type is not proposal.type:
            raise InvalidArchive(f"{where}: {name}: it is of a type that is not learned, or two")
        if not 0 <= candidate.confidence <= 1:
            raise InvalidArchive(f"{where}: {name}: confidence has to be from 0 to 1")
    is_decided = proposal.state is not ProposalState.PENDING
    if not proposal.revision or is_decided is (proposal.decided_at is None):
        raise InvalidArchive(f"{where}: state, decided_at and revision do not agree")


def _check_snapshot(item: ArchivedSnapshot, where: str) -> None:
    snapshot = item.snapshot
    if not 1 <= snapshot.first_seq <= snapshot.last_seq:
        raise InvalidArchive(f"{where}: first_seq and last_seq are no run of turns")
    for number, job in enumerate(item.jobs):
        place = f"{where}: jobs: {number}"
        _check_job(job, place)
        named = job.payload.get("snapshot_id", snapshot.id)
        if (job.user_id, named) != (snapshot.user_id, snapshot.id):
            raise InvalidArchive(f"{place} is not of this snapshot")


def _check_spaces(vectors: Sequence[StoredVector], where: str) -> None:
    if len({one.space for one in vectors}) < len(vectors):
        raise InvalidArchive(f"{where}: vectors: two of one space")


def _check_job(job: Job, where: str) -> None:
    if job.kind not in PORTABLE or job.state is JobState.DONE:
        raise InvalidArchive(f"{where}: it is no work that an archive carries")
    for name in _TEXTS[job.kind]:
        if not isinstance(job.payload.get(name, ""), str):
            raise InvalidArchive(f"{where}: payload: {name} has to be a text")
    if job.kind is JobKind.EXTRACT and job.payload.get("type") not in [*BUILT_IN]:
        raise InvalidArchive(f"{where}: payload: type: it is none that is learned")
    if job.kind is JobKind.CONTEXT and not _are_texts(job.payload.get("memory_ids")):
        raise InvalidArchive(f"{where}: payload: memory_ids have to be texts")


def _are_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)


def _inside(value: Any) -> Sequence[Any]:
    if isinstance(value, Mapping):
        return [*value, *value.values()]
    return value if isinstance(value, list | tuple) else ()
