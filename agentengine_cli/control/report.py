"""A status as a document for programs and as lines for people."""

from collections.abc import Iterator
from typing import Any

from agentengine_cli.control.state import ServerRecord
from agentengine_cli.control.status import ConfigMark, State, Status

PROJECT = "local"


def status_document(status: Status) -> dict[str, Any]:
    """Return the JSON form of `memory status`."""
    body = status.body
    return {
        "state": status.state.value,
        "blocked_on": list(status.blocked_on),
        "url": status.url,
        "pid": status.pid,
        "project_id": body.get("project_id", PROJECT),
        "store": body.get("store"),
        "search": body.get("search"),
        "embedding": body.get("embedding"),
        "extraction": body.get("extraction"),
        "version": body.get("version"),
        "config": {
            "stored": _mark(status.stored),
            "applied": _mark(status.applied),
            "pending": status.pending,
        },
        "warnings": list(status.warnings),
    }


def _mark(mark: ConfigMark | None) -> dict[str, str | None] | None:
    return {"digest": mark.digest, "at": mark.at} if mark else None


def status_lines(status: Status) -> Iterator[str]:
    """Yield the lines of `memory status`, the state first."""
    yield f"state: {status.state}"
    label = "waiting for" if status.state is State.STARTING else "blocked on"
    for reason in status.blocked_on:
        yield f"{label}: {reason}"
    if status.url:
        yield f"url: {status.url}"
        yield f"pid: {status.pid}"
    elif status.record:
        yield _past(status.record)
    if version := status.body.get("version"):
        yield f"version: {version}"
    yield f"config: {_config(status)}"
    for name in ("embedding", "extraction", "store", "search"):
        if told := _told(status.body.get(name)):
            yield f"{name}: {told}"


def _past(record: ServerRecord) -> str:
    return f"last run: started {record.started_at}, ended {record.stopped_at or 'unknown when'}"


def _config(status: Status) -> str:
    """Say which configuration is stored and which one runs, with the times."""
    if status.stored is None and status.applied is None:
        return "none stored (agentengine memory configure)"
    stored = status.stored.at if status.stored else "nothing"
    applied = f"{status.applied.at or 'at an unknown time'}" if status.applied else "never"
    verb = "running" if status.state.is_running else "applied"
    if status.pending:
        return f"pending (stored {stored}, {verb} {applied}); agentengine memory apply"
    return f"applied (stored {stored}, {verb} {applied})"


def _told(part: object) -> str:
    """Write a part of the readiness document in one line."""
    if not isinstance(part, dict):
        return str(part) if part else ""
    shown = {name: value for name, value in part.items() if value not in (None, "", [], {})}
    return ", ".join(f"{name}={value}" for name, value in shown.items())
