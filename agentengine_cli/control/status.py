"""What is true about the memory server right now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

import psutil

from agentengine_cli.control import addresses
from agentengine_cli.control.clock import Clock
from agentengine_cli.control.log import last_lines
from agentengine_cli.control.readiness import Answer, Prober, Voice
from agentengine_cli.control.state import Delivery, ServerRecord, StateDirectory
from memory_server import project_config
from memory_server.errors import InvalidProjectConfig

STARTUP_SECONDS = 60.0
"""How long a silent process is still thought to be starting."""
CRASH_LINES = 5
BUILT_IN = "local"
"""The provider that is a part of the server."""


class State(StrEnum):
    """The one word `memory status` begins with."""

    READY = "ready"
    STARTING = "starting"
    BLOCKED = "blocked"
    STOPPED = "stopped"
    NOT_RESPONDING = "not_responding"
    CRASHED = "crashed"
    NOT_PROVISIONED = "not_provisioned"

    @property
    def is_running(self) -> bool:
        """Whether a process of ours is alive."""
        return self in {State.READY, State.STARTING, State.BLOCKED, State.NOT_RESPONDING}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigMark:
    """Which configuration, since when."""

    digest: str
    at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The server, its configuration, and what deserves attention."""

    state: State
    blocked_on: Sequence[str] = ()
    record: ServerRecord | None = None
    body: Mapping[str, Any] = field(default_factory=dict)
    """The server's own readiness document; empty while it does not answer."""
    stored: ConfigMark | None = None
    applied: ConfigMark | None = None
    warnings: Sequence[str] = ()
    jobs: Mapping[str, int] | None = None
    """Background jobs by state, if the server tells."""

    @property
    def pending(self) -> bool:
        """Whether a stored configuration is not the applied one."""
        if self.stored is None:
            return False
        return self.applied is None or self.applied.digest != self.stored.digest

    @property
    def url(self) -> str | None:
        """Where the server is, while a process of ours is alive."""
        return self.record.url if self.record and self.state.is_running else None

    @property
    def pid(self) -> int | None:
        """The server's process, while it is alive."""
        return self.record.pid if self.record and self.state.is_running else None


def observe(state: StateDirectory, *, prober: Prober, clock: Clock) -> Status:
    """Look at the files, the process and its answer; changes nothing."""
    record = state.server()
    stored, delivery = state.stored(), state.delivery()
    stored_mark = ConfigMark(digest=stored.digest, at=stored.at) if stored else None
    applied = ConfigMark(digest=delivery.digest, at=delivery.at) if delivery else None
    if record is None:
        return Status(state=State.NOT_PROVISIONED, stored=stored_mark)
    if not record.process.is_running:
        found = _ended(state, record)
        return Status(record=record, stored=stored_mark, applied=applied, **found)
    if applied is None or applied.digest != record.config_digest:
        applied = ConfigMark(digest=record.config_digest, at=record.started_at)
    asked = clock.monotonic()
    answer = prober(record)
    waited = clock.monotonic() - asked
    return Status(
        record=record,
        stored=stored_mark,
        applied=applied,
        body=answer.body,
        warnings=[*_overridden(record, delivery), *_told(answer.body)],
        **_alive(record, answer, now=clock.now(), waited=waited),
    )


def _overridden(record: ServerRecord, delivery: Delivery | None) -> list[str]:
    """Warn of what is configured and not in use; a configuration of built-in models is in use."""
    if not record.local_models:
        return []
    away = _hosted(delivery.document) if delivery else {}
    if away is not None and not away:
        return []
    named = ", ".join(f"{block}: {provider}" for block, provider in (away or {}).items())
    of = f" ({named})" if named else ""
    return [f"the built-in models stand in for the configured providers{of}, by --local-models"]


def _told(body: Mapping[str, Any]) -> list[str]:
    """Return what the server itself warns of."""
    warnings = body.get("warnings")
    return [*map(str, warnings)] if isinstance(warnings, list) else []


def _hosted(document: Mapping[str, Any]) -> Mapping[str, str] | None:
    """Return the providers that are not built in, by their blocks; None if they cannot be told."""
    try:
        config = project_config.parse(document)
    except InvalidProjectConfig:  # another version's
        return None
    providers = {
        "embedding": config.embedding.provider,
        "extraction_llm": config.extraction_llm.provider,
    }
    return {block: str(name) for block, name in providers.items() if name != BUILT_IN}


def _alive(record: ServerRecord, answer: Answer, *, now: datetime, waited: float) -> dict[str, Any]:
    if answer.voice is Voice.OURS:
        known = answer.status in {State.READY, State.STARTING, State.BLOCKED}
        state = State(answer.status) if known else State.STARTING
        return {"state": state, "blocked_on": answer.blocked_on}
    if answer.voice is Voice.FOREIGN:
        reason = (
            f"{addresses.owner(record.port) or 'another program'} answers on port {record.port}, "
            f"which process {record.pid} was started for"
        )
        return {"state": State.BLOCKED, "blocked_on": (reason,)}
    age = (now - datetime.fromisoformat(record.started_at)).total_seconds()
    if record.ready_at is None and age < STARTUP_SECONDS:
        return {"state": State.STARTING, "blocked_on": (f"no answer yet at {record.url}",)}
    span = f" for {waited:.0f} s" if waited >= 1 else ""
    reason = f"not answering{span} at {record.url}; process {record.pid} runs"
    return {"state": State.NOT_RESPONDING, "blocked_on": (reason,)}


def _ended(state: StateDirectory, record: ServerRecord) -> dict[str, Any]:
    warnings = []
    if not addresses.is_free(record.port):
        owner = addresses.owner(record.port) or "another program"
        warnings.append(f"port {record.port} is now in use by {owner}")
    if record.stopped_at and not record.crashed:
        return {"state": State.STOPPED, "warnings": warnings}
    if psutil.boot_time() > record.process_started_at + 1 and not record.crashed:
        return {"state": State.STOPPED, "warnings": ["the machine was restarted", *warnings]}
    lines = last_lines(state.log, CRASH_LINES, start=record.log_offset)
    story = [f"log: {line}" for line in lines] or ["its log is empty"]
    return {"state": State.CRASHED, "warnings": [_exit(record), *story, *warnings]}


def _exit(record: ServerRecord) -> str:
    ended = f"process {record.pid} ended by itself"
    if record.exit_code is None:
        return f"{ended}, or was killed, while no command was watching"
    if record.exit_code < 0:
        return f"{ended}: signal {-record.exit_code}"
    return f"{ended}: exit code {record.exit_code}"
