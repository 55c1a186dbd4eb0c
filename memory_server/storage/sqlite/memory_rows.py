"""Rows of memories and the values they stand for."""

import json
import sqlite3
from datetime import datetime
from typing import Any

from memory_server.domain.json_values import encode
from memory_server.domain.memory import Claim, EventTime, Memory, MemoryType, Term
from memory_server.domain.moments import (
    from_micros,
    maybe_micros,
    maybe_moment,
    moment_of_text,
    moment_text,
    to_micros,
    within_reach,
)
from memory_server.domain.scope import Visibility
from memory_server.domain.utterance import Dialogue
from memory_server.search.local.entries import memory_fields
from memory_server.storage.memory_values import (
    body_of,
    body_values,
    dialogue,
    evidence_of,
    evidence_values,
)
from memory_server.storage.sqlite.rows import Row


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
        "body": encode(body_values(memory.body)),
        "fields": encode(memory_fields(memory)),
        "contextual_metadata": encode(memory.contextual_metadata),
        "event_time": _event_text(memory.event_time),
        "evidence": encode([evidence_values(one) for one in memory.evidence]),
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
    row = dict(zip(row.keys(), row, strict=True)) if isinstance(row, sqlite3.Row) else row
    return Memory(
        id=row["id"],
        project_id=row["project_id"],
        user_id=row["user_id"],
        agent_id=row["agent_id"],
        session_id=row["session_id"],
        visibility=Visibility(row["visibility"]),
        body=body_of(MemoryType(row["type"]), json.loads(row["body"])),
        identity_key=row["identity_key"],
        claim=_claim(row),
        metadata=json.loads(row["fields"])["metadata"],
        contextual_metadata=json.loads(row["contextual_metadata"]),
        event_time=_event(row["event_time"]),
        evidence=tuple(evidence_of(one) for one in json.loads(row["evidence"])),
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


def dialogue_of(row: Row) -> Dialogue:
    """Return what was said in the exchange of a block."""
    told = row["event_time"]
    start = None if told is None else moment_of_text(json.loads(told)[0])
    return dialogue(json.loads(row["body"]), start or from_micros(row["valid_from"]))


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
