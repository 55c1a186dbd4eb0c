"""A status as a document for programs and as lines for people."""

from collections.abc import Iterator, Mapping
from typing import Any

from agentengine_cli.control.state import ServerRecord
from agentengine_cli.control.status import ConfigMark, State, Status

PROJECT = "local"
KIBI = 1024


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
        "jobs": dict(status.jobs) if status.jobs is not None else None,
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
    labels = {State.STARTING: "waiting for: ", State.NOT_RESPONDING: ""}
    for reason in status.blocked_on:
        yield f"{labels.get(status.state, 'blocked on: ')}{reason}"
    if status.url:
        yield f"url: {status.url}"
        yield f"pid: {status.pid}"
    elif status.record:
        yield _past(status.record)
    if version := status.body.get("version"):
        yield f"version: {version}"
    yield f"config: {_config(status)}"
    for name in ("embedding", "extraction", "store", "search"):
        if text := told(status.body.get(name)):
            yield f"{name}: {text}"
    if status.jobs is not None:
        yield f"jobs: {_work(status.jobs)}"


def _past(record: ServerRecord) -> str:
    end = f"ended {record.stopped_at}" if record.stopped_at else "end time unknown"
    return f"last run: started {record.started_at}, {end}"


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


def told(part: object) -> str:
    """Write a part of the readiness document in one line."""
    if not isinstance(part, dict):
        return str(part) if part else ""
    shown = (
        f"{name.removesuffix('_bytes')}={_written(name, value)}"
        for name, value in part.items()
        if value not in (None, "", {})
    )
    return ", ".join(shown)


def _written(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, int) and name.endswith("_bytes"):
        return _size(value)
    return str(value)


def _size(count: float) -> str:
    """Return a number of bytes as people say it."""
    for unit in ("B", "KiB", "MiB"):
        if count < KIBI:
            return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"
        count /= KIBI
    return f"{count:.1f} GiB"


def _work(jobs: Mapping[str, int]) -> str:
    told = ", ".join(f"{count} {state}" for state, count in jobs.items())
    return f"{told}; agentengine memory jobs --failed" if jobs.get("failed") else told
