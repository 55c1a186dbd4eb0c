"""Rows of memories and the values they stand for."""

import json
from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any

from memory_server.domain.custom_type import tag_tree
from memory_server.domain.memory import (
    BODY_TYPES,
    Body,
    Claim,
    Episode,
    EventTime,
    Evidence,
    Memory,
    MemoryType,
    Procedure,
    Record,
    Term,
)
from memory_server.domain.scope import Visibility
from memory_server.search.local.moments import (
    from_micros,
    maybe_micros,
    maybe_moment,
    to_micros,
    within_reach,
)
from memory_server.storage.sqlite.rows import (
    Row,
    encode,
    moment_of_text,
    moment_text,
    present,
)


def memory_values(memory: Memory) -> dict[str, Any]:
    """Return the columns of a memory, but for `root_id` and `has_embedding`."""
    claim = memory.claim
    return {
        "id": memory.id,
        "project_id": memory.project_id,
        "user_id": memory.user_id,
        "agent_id": memory.agent_id,
        "session_id": memory.session_id,
        "visibility": memory.visibility.value,
        "type": memory.type.value,
        "key": memory.body.key,
        "domain": memory.body.domain if isinstance(memory.body, Term) else None,
        "identity_key": memory.identity_key,
        "claim_subject": claim and claim.subject,
        "claim_attribute": claim and claim.attribute,
        "claim_value": claim and claim.value,
        "claim_exclusive": claim and claim.exclusive,
        "body": encode({one.name: getattr(memory.body, one.name) for one in fields(memory.body)}),
        "fields": encode(memory_fields(memory)),
        "contextual_metadata": encode(memory.contextual_metadata),
        "event_time": _event_text(memory.event_time),
        "evidence": encode([_evidence_document(one) for one in memory.evidence]),
        "created_at": to_micros(memory.created_at),
        "updated_at": to_micros(memory.updated_at),
        "valid_from": to_micros(memory.valid_from),
        "valid_to": maybe_micros(memory.valid_to),
        "reinforcement_count": memory.reinforcement_count,
        "version": memory.version,
        "revision": memory.revision,
        "is_latest": memory.is_latest,
        "supersedes": memory.supersedes,
        "superseded_by": memory.superseded_by,
        "deleted": memory.deleted,
    }


def memory_of(row: Row) -> Memory:
    """Return a memory."""
    return Memory(
        id=row["id"],
        project_id=row["project_id"],
        user_id=row["user_id"],
        agent_id=row["agent_id"],
        session_id=row["session_id"],
        visibility=Visibility(row["visibility"]),
        body=_body(row),
        identity_key=row["identity_key"],
        claim=_claim(row),
        metadata=json.loads(row["fields"])["metadata"],
        contextual_metadata=json.loads(row["contextual_metadata"]),
        event_time=_event(row["event_time"]),
        evidence=tuple(_evidence(one) for one in json.loads(row["evidence"])),
        created_at=from_micros(row["created_at"]),
        updated_at=from_micros(row["updated_at"]),
        valid_from=from_micros(row["valid_from"]),
        valid_to=maybe_moment(row["valid_to"]),
        reinforcement_count=row["reinforcement_count"],
        version=row["version"],
        revision=row["revision"],
        is_latest=bool(row["is_latest"]),
        supersedes=row["supersedes"],
        superseded_by=row["superseded_by"],
        deleted=bool(row["deleted"]),
        has_embedding=bool(row["has_embedding"]),
    )


def memory_fields(memory: Memory) -> Mapping[str, Any]:
    """Return what filters over memories may name."""
    named = {
        "agent_id": memory.agent_id,
        "session_id": memory.session_id,
        "domain": getattr(memory.body, "domain", None),
        "tags": _tags(memory.body),
    }
    return {"metadata": memory.metadata, **present(named)}


def _tags(body: Body) -> Any:
    match body:
        case Record():
            return tag_tree(body.tags)
        case Episode() | Procedure():
            return body.tags
    return None


def _body(row: Row) -> Body:
    document = json.loads(row["body"])
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in document.items()
    }
    return BODY_TYPES[MemoryType(row["type"])](**values)


def _claim(row: Row) -> Claim | None:
    if row["claim_subject"] is None:
        return None
    return Claim(
        subject=row["claim_subject"],
        attribute=row["claim_attribute"],
        value=row["claim_value"],
        exclusive=bool(row["claim_exclusive"]),
    )


def _event_text(event: EventTime | None) -> str | None:
    if event is None:
        return None
    return encode([moment_text(event.start), moment_text(event.end), event.words])


def _event(text: str | None) -> EventTime | None:
    if text is None:
        return None
    start, end, words = json.loads(text)
    return EventTime(
        start=within_reach(datetime.fromisoformat(start)),
        end=within_reach(datetime.fromisoformat(end)),
        words=words,
    )


def _evidence_document(evidence: Evidence) -> Mapping[str, Any]:
    return {
        "snapshot_id": evidence.snapshot_id,
        "session_id": evidence.session_id,
        "turn_ids": evidence.turn_ids,
        "extractor": evidence.extractor,
        "learned_at": moment_text(evidence.learned_at),
        "event_time": moment_text(evidence.event_time),
    }


def _evidence(document: Mapping[str, Any]) -> Evidence:
    return Evidence(
        snapshot_id=document["snapshot_id"],
        session_id=document["session_id"],
        turn_ids=tuple(document["turn_ids"]),
        extractor=document["extractor"],
        learned_at=within_reach(datetime.fromisoformat(document["learned_at"])),
        event_time=moment_of_text(document["event_time"]),
    )
