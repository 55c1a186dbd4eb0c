"""Documents of memories and the values they stand for.

`text`, `fields` and `moments` are made of the rest: what searches match and what filters compare.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from bson.binary import Binary

from memory_server.domain.memory import (
    Block,
    Claim,
    EventTime,
    Memory,
    MemoryType,
    Record,
    Term,
)
from memory_server.domain.moments import (
    from_micros,
    maybe_micros,
    maybe_moment,
    moment_text,
    to_micros,
    within_reach,
)
from memory_server.domain.scope import Visibility
from memory_server.domain.utterance import Dialogue
from memory_server.domain.words import index_text
from memory_server.search.atlas.documents import MOMENTS, moments
from memory_server.search.local import documents as index
from memory_server.search.local.entries import memory_entry, memory_fields
from memory_server.storage.memory_values import (
    body_of,
    body_values,
    dialogue,
    evidence_of,
    evidence_values,
)
from memory_server.storage.mongo.collections import MEMORIES
from memory_server.storage.mongo.documents import Document, identity
from memory_server.storage.mongo.filters import comparable
from memory_server.storage.mongo.json_fields import json_change, json_names, json_of

_GIVEN = ("body", "metadata", "contextual_metadata")

UNREAD = {"vectors": 0, "fields": 0, "text": 0, MOMENTS: 0}
"""The projection of those who read memories: what `memory_of` and `entry_of` do not need."""


SAID = {"id": 1, "event_time": 1, "valid_from": 1, **json_names("body")}
"""The projection of those who read what was said in blocks: what `dialogue_of` needs."""


def memory_document(
    memory: Memory,
    *,
    root_id: str | None = None,
    hidden: bool = False,
    vectors: Mapping[str, Binary] | None = None,
) -> Document:
    """Return a new document of the collection `MEMORIES[memory.type]`.

    `root_id` is the memory of which this is a former version, None for a memory itself; `hidden`:
    that memory is deleted. `vectors` are `packed`, by `space_key`.
    """
    return {
        "_id": identity(memory.project_id, memory.id),
        **memory_values(memory),
        "root_id": memory.id if root_id is None else root_id,
        "hidden": hidden or memory.deleted,
        "has_embedding": bool(vectors),
        "vectors": dict(vectors or {}),
    }


def memory_values(memory: Memory) -> Document:
    """Return what a memory says of itself: all but its place in a history and its vectors."""
    body = memory.body
    return {
        "id": memory.id,
        "project_id": memory.project_id,
        "user_id": memory.user_id,
        "agent_id": memory.agent_id,
        "session_id": memory.session_id,
        "visibility": memory.visibility.value,
        "type": memory.type.value,
        "custom_type": body.custom_type if isinstance(body, Record) else None,
        "key": body.key,
        "domain": body.domain if isinstance(body, Term) else None,
        **(_place(body) if isinstance(body, Block) else {}),
        "identity_key": memory.identity_key,
        "live_identity": memory.identity_key if memory.is_live else None,
        "claim": _claim_document(memory.claim),
        "text": index_text(body.index_text),
        "fields": comparable(memory_fields(memory)),
        MOMENTS: moments(memory.metadata),
        **json_change("body", body_values(body)),
        **json_change("metadata", memory.metadata),
        **json_change("contextual_metadata", memory.contextual_metadata),
        "event_time": _event_document(memory.event_time),
        "evidence": [dict(evidence_values(one)) for one in memory.evidence],
        "created_at": to_micros(memory.created_at),
        "updated_at": to_micros(memory.updated_at),
        "valid_from": to_micros(memory.valid_from),
        "valid_to": maybe_micros(memory.valid_to),
        "reinforcement_count": memory.reinforcement_count,
        "version": memory.version,
        "revision": memory.revision,
        "is_latest": memory.is_latest,
        "is_live": memory.is_live,
        "supersedes": memory.supersedes,
        "superseded_by": memory.superseded_by,
        "deleted": memory.deleted,
    }


def former_document(stored: Document, former_id: str, replaced_by: Memory) -> Document:
    """Return the former version that a memory's stored document, with its vectors, becomes."""
    return {
        **stored,
        "_id": identity(replaced_by.project_id, former_id),
        "id": former_id,
        "is_latest": False,
        "is_live": False,
        "live_identity": None,
        "superseded_by": replaced_by.id,
        "valid_to": to_micros(replaced_by.valid_from),
    }


def memory_of(document: Mapping[str, Any]) -> Memory:
    """Return a memory; the fields of `UNREAD` may be missing."""
    given = {name: json_of(document, name) for name in _GIVEN}
    claim, event = document["claim"], document["event_time"]
    return Memory(
        id=document["id"],
        project_id=document["project_id"],
        user_id=document["user_id"],
        agent_id=document["agent_id"],
        session_id=document["session_id"],
        visibility=Visibility(document["visibility"]),
        body=body_of(MemoryType(document["type"]), given["body"]),
        identity_key=document["identity_key"],
        claim=None if claim is None else Claim(**claim),
        metadata=given["metadata"],
        contextual_metadata=given["contextual_metadata"],
        event_time=None if event is None else _event(event),
        evidence=tuple(map(evidence_of, document["evidence"])),
        created_at=from_micros(document["created_at"]),
        updated_at=from_micros(document["updated_at"]),
        valid_from=from_micros(document["valid_from"]),
        valid_to=maybe_moment(document["valid_to"]),
        reinforcement_count=document["reinforcement_count"],
        version=document["version"],
        revision=document["revision"],
        is_latest=document["is_latest"],
        supersedes=document["supersedes"],
        superseded_by=document["superseded_by"],
        deleted=document["deleted"],
        has_embedding=document["has_embedding"],
    )


def dialogue_of(document: Mapping[str, Any]) -> Dialogue:
    """Return what was said in the exchange of a block."""
    event = document["event_time"]
    said_at = from_micros(document["valid_from"]) if event is None else _event(event).start
    return dialogue(json_of(document, "body"), said_at)


def entry_of(document: Mapping[str, Any]) -> index.Document:
    """Return what the index is told of a stored memory; its vectors are `vectors_of`."""
    return memory_entry(memory_of(document), hidden=document["hidden"])


def collection_of(memory: Memory) -> str:
    """Return the name of the collection that keeps a memory, in all its versions."""
    return MEMORIES[memory.type]


def in_all_collections(pipeline: Sequence[Document]) -> tuple[str, list[Document]]:
    """Return a pipeline that does the same in all collections of memories, and where to ask it."""
    first, *others = MEMORIES.values()
    unions = [{"$unionWith": {"coll": name, "pipeline": [*pipeline]}} for name in others]
    return first, [*pipeline, *unions]


def _place(block: Block) -> Document:
    """Return what names a block where searches narrow and look around."""
    return {
        "exchange_id": block.exchange_id,
        "viewpoint": block.viewpoint.value,
        "speaker": block.speaker,
        "position": block.position,
    }


def _claim_document(claim: Claim | None) -> Document | None:
    if claim is None:
        return None
    return {
        "subject": claim.subject,
        "attribute": claim.attribute,
        "value": claim.value,
        "exclusive": claim.exclusive,
    }


def _event_document(event: EventTime | None) -> Document | None:
    if event is None:
        return None
    return {
        "start": moment_text(event.start),
        "end": moment_text(event.end),
        "words": event.words,
    }


def _event(document: Mapping[str, Any]) -> EventTime:
    return EventTime(
        start=within_reach(datetime.fromisoformat(document["start"])),
        end=within_reach(datetime.fromisoformat(document["end"])),
        words=document["words"],
    )
