"""Rows and the values they stand for: turns, snapshots, jobs, accounts. Memories have theirs."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from memory_server.domain.account import AccountRole, SecretHash, ServiceAccount
from memory_server.domain.job import Job, JobKind, JobState, job_owner, job_queue
from memory_server.domain.json_values import encode
from memory_server.domain.moments import (
    from_micros,
    maybe_micros,
    maybe_moment,
    moment_of_text,
    moment_text,
    to_micros,
)
from memory_server.domain.snapshot import SessionState, Snapshot, Trigger
from memory_server.domain.turn import NewTurn, Role, Turn, speaker_of
from memory_server.domain.utterance import Utterance

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
        "event_time": moment_text(turn.event_time),
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
        event_time=moment_of_text(row["event_time"]),
        idempotency_key=row["idempotency_key"],
        metadata=json.loads(row["metadata"]),
        snapshot_id=row["snapshot_id"],
        has_embedding=bool(row["has_embedding"]),
        **json.loads(row["details"]),
    )


def utterance_of(row: Row) -> Utterance:
    """Return what a turn says."""
    metadata = row["metadata"]
    # Most name nobody: then there is nothing to read.
    named = json.loads(metadata) if '"speaker"' in metadata else {}
    told, recorded = row["event_time"], row["created_at"]
    return Utterance(
        id=row["id"],
        session=row["session_id"],
        speaker=speaker_of(named, row["role"]),
        role=row["role"],
        text=row["content"],
        said_at=moment_of_text(told) or from_micros(recorded),
    )


def session_of(row: Row) -> SessionState:
    """Return the state of a session."""
    return SessionState(
        project_id=row["project_id"],
        session_id=row["session_id"],
        last_seq=row["last_seq"],
        promoted_seq=row["promoted_seq"],
        last_activity=from_micros(row["last_activity"]),
        user_id=row["user_id"],
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
        "queue": job_queue(job),
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


def _secret_document(secret: SecretHash) -> Sequence[Any]:
    return [secret.salt, secret.digest, to_micros(secret.expires_at)]


def _secret(document: Sequence[Any]) -> SecretHash:
    salt, digest, expires_at = document
    return SecretHash(salt=salt, digest=digest, expires_at=from_micros(expires_at))
