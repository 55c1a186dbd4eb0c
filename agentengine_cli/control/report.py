"""A status as a document for programs and as lines for people."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from agentengine_cli.control.state import ServerRecord
from agentengine_cli.control.status import ConfigMark, State, Status
from agentengine_cli.spending import told_circuit, told_spending

PROJECT = "local"
KIBI = 1024
WORK = ("queued", "running", "failed")
SHORT_DIGEST = 12


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
        "reembedding": body.get("reembedding"),
        "review": body.get("review"),
        "servers": body.get("servers"),
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
    yield from lines_of_parts(status.body, status.body.get("background"), status.jobs)


def lines_of_parts(
    parts: Mapping[str, Any], worker: object, jobs: Mapping[str, Any] | None, *, options: str = ""
) -> Iterator[str]:
    """Yield a line for each part a server tells of, wherever it runs.

    `options` are what the next command needs to mean the same server.
    """
    for name in ("embedding", "extraction", "store", "search"):
        yield from _lines_of(name, parts.get(name))
    if text := told_reembedding(parts.get("reembedding")):
        yield f"reembedding: {text}"
    if text := told_review(parts.get("review"), options):
        yield f"review: {text}"
    if text := _told(worker):
        yield f"worker: {text}"
    if text := _several(parts.get("servers")):
        yield f"servers: {text}"
    if jobs:
        yield f"jobs: {_work(jobs, options)}"


def _lines_of(name: str, part: object) -> Iterator[str]:
    """Yield a part's line, and those of what it tells of models."""
    told = part if isinstance(part, dict) else {}
    rest = {key: value for key, value in told.items() if key not in ("circuit", "spending")}
    for label, text in (
        (name, _told(rest or part)),
        (f"circuit of {name}", told_circuit(told.get("circuit"))),
        ("spending", told_spending(told.get("spending"))),
    ):
        if text:
            yield f"{label}: {text}"


def told_reembedding(told: object) -> str:
    """Say how far the way to another embedding model is; nothing where there is none."""
    if not isinstance(told, dict) or not told:
        return ""
    if told.get("state") == "removing":
        return "done; the vectors of the former model are being removed"
    if told.get("state") == "needed":
        return f"needed ({told.get('from')} -> {told.get('to')}); {told.get('problem')}"
    text = f"{told.get('done')} of {told.get('total')} ({told.get('from')} -> {told.get('to')})"
    problems = [told.get("problem"), told.get("meaning") and f"meaning is {told['meaning']}"]
    return "; ".join([text, *(str(problem) for problem in problems if problem)])


def told_review(told: object, options: str = "") -> str:
    """Say how much waits for a decision; nothing where nothing does and none will."""
    if not isinstance(told, dict) or not told:
        return ""
    pending, approval = told.get("pending"), told.get("approval")
    if pending:
        wait = "1 proposal waits" if pending == 1 else f"{pending} proposals wait"
        still = "" if approval == "manual" else "; what is extracted now is remembered at once"
        return f"{wait} for a decision{still}; agentengine memory review{options}"
    return "nothing waits for a decision" if approval == "manual" else ""


def _several(servers: object) -> str:
    """Say which servers share the work, where there is more than one."""
    told = servers if isinstance(servers, list) else []
    if len(told) < 2:
        return ""
    each = (
        f"{one.get('name')} ({one.get('role')}, {one.get('state')}, config "
        f"{str(one.get('config_digest'))[:SHORT_DIGEST]})"
        for one in told
    )
    return f"{len(told)} alive: {', '.join(each)}"


def seconds_of(moment: str | None) -> str | None:
    """Return a moment to the second, in UTC, as people read it; what is none as it is."""
    if moment is None:
        return None
    try:
        parsed = datetime.fromisoformat(moment)
    except ValueError:
        return moment
    if parsed.tzinfo is None:
        return moment
    return parsed.astimezone(UTC).isoformat(timespec="seconds")


def _past(record: ServerRecord) -> str:
    end = f"ended {seconds_of(record.stopped_at)}" if record.stopped_at else "end time unknown"
    return f"last run: started {seconds_of(record.started_at)}, {end}"


def _config(status: Status) -> str:
    """Say which configuration is stored and which one runs, with the times."""
    if status.stored is None and status.applied is None:
        return "none stored (agentengine memory configure)"
    stored = seconds_of(status.stored.at) if status.stored else "nothing"
    applied = "never"
    if status.applied:
        applied = seconds_of(status.applied.at) or "at an unknown time"
    verb = "running" if status.state.is_running else "applied"
    if status.pending:
        return f"pending (stored {stored}, {verb} {applied}); agentengine memory apply"
    return f"applied (stored {stored}, {verb} {applied})"


def _told(part: object) -> str:
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
    if isinstance(value, dict):
        return f"({_told(value)})"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_written("", one) for one in value) or "none"
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


def _work(jobs: Mapping[str, Any], options: str) -> str:
    """Return how much work there is; what is done is no work any more."""
    told = ", ".join(f"{jobs[state]} {state}" for state in WORK if jobs.get(state) is not None)
    return f"{told}; agentengine memory jobs --failed{options}" if jobs.get("failed") else told
