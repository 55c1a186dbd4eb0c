"""Rows and the values they stand for."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from memory_server.domain.account import AccountRole, SecretHash, ServiceAccount
from memory_server.domain.custom_type import tag_tree
from memory_server.domain.job import Job, JobKind, JobState
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
from memory_server.domain.snapshot import SessionState, Snapshot, Trigger
from memory_server.domain.turn import NewTurn, Role, Turn
from memory_server.errors import InvalidRequest
from memory_server.search.local.moments import (
    from_micros,
    maybe_micros,
    maybe_moment,
    to_micros,
    within_reach,
)

Row = Mapping[str, Any] | sqlite3.Row

_TURN_DETAILS = (
    "tool_calls",
    "tool_call_id",
    "tool_name",
    "is_error",
    "model_name",
    "tokens",
    "stop_reason",
)


def encode(value: Any) -> str:
    """Return JSON text; raises `InvalidRequest` for what JSON cannot carry."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise InvalidRequest(
            f"a value cannot be kept as JSON ({error}); use finite numbers, texts, lists, objects"
        ) from error


def turn_values(turn: NewTurn) -> dict[str, Any]:
    """Return the columns of a new turn, but for its number."""
    return {
        "id": turn.id,
        "project_id": turn.project_id,
        "session_id": turn.session_id,
        "user_id": turn.user_id,
        "agent_id": turn.agent_id,
        "role": turn.role.value,
        "content": turn.content,
        "created_at": to_micros(turn.created_at),
        "event_time": _text(turn.event_time),
        "idempotency_key": turn.idempotency_key,
        "details": encode({name: getattr(turn, name) for name in _TURN_DETAILS}),
        "metadata": encode(turn.metadata),
    }


def turn_of(row: Row) -> Turn:
    """Return a recorded turn."""
    return Turn(
        id=row["id"],
        project_id=row["project_id"],
        session_id=row["session_id"],
        turn_seq=row["turn_seq"],
        user_id=row["user_id"],
        agent_id=row["agent_id"],
        role=Role(row["role"]),
        content=row["content"],
        created_at=from_micros(row["created_at"]),
        event_time=_moment(row["event_time"]),
        idempotency_key=row["idempotency_key"],
        metadata=json.loads(row["metadata"]),
        snapshot_id=row["snapshot_id"],
        has_embedding=bool(row["has_embedding"]),
        **json.loads(row["details"]),
    )


def turn_fields(turn: NewTurn) -> Mapping[str, Any]:
    """Return what filters over turns may name."""
    named = {
        "agent_id": turn.agent_id,
        "session_id": turn.session_id,
        "role": turn.role.value,
    }
    return {"metadata": turn.metadata, **_present(named)}


def session_of(row: Row) -> SessionState:
    """Return the state of a session."""
    return SessionState(
        project_id=row["project_id"],
        session_id=row["session_id"],
        last_seq=row["last_seq"],
        promoted_seq=row["promoted_seq"],
        last_activity=from_micros(row["last_activity"]),
    )


def snapshot_values(snapshot: Snapshot) -> dict[str, Any]:
    """Return the columns of a snapshot."""
    return {
        "id": snapshot.id,
        "project_id": snapshot.project_id,
        "session_id": snapshot.session_id,
        "user_id": snapshot.user_id,
        "agent_id": snapshot.agent_id,
        "first_seq": snapshot.first_seq,
        "last_seq": snapshot.last_seq,
        "cause": snapshot.trigger.value,
        "created_at": to_micros(snapshot.created_at),
    }


def snapshot_of(row: Row) -> Snapshot:
    """Return a snapshot."""
    return Snapshot(
        id=row["id"],
        project_id=row["project_id"],
        session_id=row["session_id"],
        user_id=row["user_id"],
        agent_id=row["agent_id"],
        first_seq=row["first_seq"],
        last_seq=row["last_seq"],
        trigger=Trigger(row["cause"]),
        created_at=from_micros(row["created_at"]),
    )


def job_values(job: Job) -> dict[str, Any]:
    """Return the columns of a job."""
    return {
        "id": job.id,
        "project_id": job.project_id,
        "kind": job.kind.value,
        "key": job.key,
        "owner": job_owner(job.user_id),
        "queue": _queue(job),
        "user_id": job.user_id,
        "payload": encode(job.payload),
        "created_at": to_micros(job.created_at),
        "due_at": to_micros(job.due_at),
        "state": job.state.value,
        "attempts": job.attempts,
        "lease_owner": job.lease_owner,
        "lease_until": maybe_micros(job.lease_until),
        "progress": encode(job.progress),
        "result": encode(job.result),
        "error_code": job.error_code,
        "error": job.error,
        "finished_at": maybe_micros(job.finished_at),
    }


def job_owner(user_id: str | None) -> str:
    """Return what stands for a user, or for none, where jobs wait their turn."""
    return "nobody" if user_id is None else f"user {user_id}"


def job_of(row: Row) -> Job:
    """Return a job."""
    return Job(
        id=row["id"],
        project_id=row["project_id"],
        kind=JobKind(row["kind"]),
        key=row["key"],
        user_id=row["user_id"],
        payload=json.loads(row["payload"]),
        created_at=from_micros(row["created_at"]),
        due_at=from_micros(row["due_at"]),
        state=JobState(row["state"]),
        attempts=row["attempts"],
        lease_owner=row["lease_owner"],
        lease_until=maybe_moment(row["lease_until"]),
        progress=json.loads(row["progress"]),
        result=json.loads(row["result"]),
        error_code=row["error_code"],
        error=row["error"],
        finished_at=maybe_moment(row["finished_at"]),
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
    return {"metadata": memory.metadata, **_present(named)}


def account_values(account: ServiceAccount) -> dict[str, Any]:
    """Return the columns of a service account."""
    return {
        "client_id": account.client_id,
        "project_id": account.project_id,
        "name": account.name,
        "role": account.role.value,
        "description": account.description,
        "secrets": encode([_secret_document(one) for one in account.secrets]),
        "ip_access_list": encode(account.ip_access_list),
        "is_active": account.is_active,
        "created_at": to_micros(account.created_at),
        "updated_at": to_micros(account.updated_at),
        "last_used_at": maybe_micros(account.last_used_at),
    }


def account_of(row: Row) -> ServiceAccount:
    """Return a service account."""
    return ServiceAccount(
        client_id=row["client_id"],
        project_id=row["project_id"],
        name=row["name"],
        role=AccountRole(row["role"]),
        description=row["description"],
        secrets=tuple(_secret(one) for one in json.loads(row["secrets"])),
        ip_access_list=tuple(json.loads(row["ip_access_list"])),
        is_active=bool(row["is_active"]),
        created_at=from_micros(row["created_at"]),
        updated_at=from_micros(row["updated_at"]),
        last_used_at=maybe_moment(row["last_used_at"]),
    )


def _queue(job: Job) -> str:
    """Return what names the jobs that wait for each other: one alone, or those of one type."""
    if job.user_id is None or job.kind is JobKind.EMBED:
        return f"job {job.id}"
    return f"{job.kind.value} {job.payload.get('type') or ''}"


def _tags(body: Body) -> Any:
    match body:
        case Record():
            return tag_tree(body.tags)
        case Episode() | Procedure():
            return body.tags
    return None


def _present(named: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in named.items() if value is not None}


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else within_reach(moment).isoformat()


def _moment(text: str | None) -> datetime | None:
    return None if text is None else within_reach(datetime.fromisoformat(text))


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
    return encode([_text(event.start), _text(event.end), event.words])


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
        "learned_at": _text(evidence.learned_at),
        "event_time": _text(evidence.event_time),
    }


def _evidence(document: Mapping[str, Any]) -> Evidence:
    return Evidence(
        snapshot_id=document["snapshot_id"],
        session_id=document["session_id"],
        turn_ids=tuple(document["turn_ids"]),
        extractor=document["extractor"],
        learned_at=within_reach(datetime.fromisoformat(document["learned_at"])),
        event_time=_moment(document["event_time"]),
    )


def _secret_document(secret: SecretHash) -> Sequence[Any]:
    return [secret.salt, secret.digest, to_micros(secret.expires_at)]


def _secret(document: Sequence[Any]) -> SecretHash:
    salt, digest, expires_at = document
    return SecretHash(salt=salt, digest=digest, expires_at=from_micros(expires_at))
