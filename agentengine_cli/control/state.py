"""What is kept in `.agentengine/` beside a project, file by file.

stored.json      the `memory:` document of the last configure, its digest and time
delivered.json   the plain `memory:` mapping the server reads when it starts
delivery.json    when that was delivered, and how
agent.json       the agent of the user's own that the server runs, with the keys it gets
port.json        the port of a server that was removed, for the next one
server.json      the process last started: pid, start time, address, what it was started with
secrets.json     see secrets.py
owner-token      proves to the server that a caller may administer it; made once
data/, logs/     the store; the server's output
"""

import contextlib
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from agentengine_cli.control.clock import Clock
from agentengine_cli.control.files import (
    PRIVATE_DIRECTORY,
    StateDamaged,
    read_json,
    refusing_clearly,
    write_atomically,
    write_json,
)
from agentengine_cli.control.lock import locked
from agentengine_cli.control.process import ManagedProcess
from memory_server import project_config

DIRECTORY_NAME = ".agentengine"
OPERATION_WAIT_SECONDS = 10.0
QUICK_WAIT_SECONDS = 5.0
TOKEN_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredConfig:
    """The configuration that waits to be applied, or was."""

    document: Mapping[str, Any]
    digest: str
    at: str
    """ISO 8601, UTC."""
    source: str
    """The file it came from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """The configuration the server reads when it starts."""

    document: Mapping[str, Any]
    digest: str
    at: str | None
    local_models: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerRecord:
    """The memory server last started."""

    pid: int
    process_started_at: float
    url: str
    port: int
    instance_id: str
    config_digest: str
    started_at: str
    local_models: bool = False
    environment_digest: str | None = None
    """Tells whether keys or `.env` values changed since; reveals none of them."""
    ready_at: str | None = None
    """When it was first seen to be ready."""
    stopped_at: str | None = None
    """Set when it was stopped on purpose, or seen to end by itself."""
    exit_code: int | None = None
    """Negative: the signal. Known only when a command was watching."""
    crashed: bool = False
    store: Mapping[str, Any] | None = None
    """Which one it served when it was first ready; until then, that of the one before it."""
    has_agent: bool = False
    """Whether it was told of an agent of the user's own."""
    log_offset: int = 0
    """Where this process's output begins in the log, in bytes."""

    @property
    def process(self) -> ManagedProcess:
        """The process this describes, alive or not."""
        return ManagedProcess(
            pid=self.pid, started_at=self.process_started_at, instance_id=self.instance_id
        )


Record = TypeVar("Record", StoredConfig, ServerRecord)


@dataclass(frozen=True, slots=True)
class StateDirectory:
    """One project's `.agentengine/`."""

    project: Path
    """The directory that holds project-config.yaml."""

    @property
    def path(self) -> Path:
        return self.project / DIRECTORY_NAME

    @property
    def log(self) -> Path:
        return self.path / "logs" / "memory-server.log"

    @property
    def data(self) -> Path:
        return self.path / "data"

    @property
    def delivered(self) -> Path:
        return self.path / "delivered.json"

    @property
    def agent(self) -> Path:
        return self.path / "agent.json"

    @property
    def owner_token(self) -> Path:
        return self.path / "owner-token"

    def prepare(self) -> None:
        """Create the directory, closed to other users and invisible to git."""
        with refusing_clearly(self.path):
            for directory in (self.path, self.log.parent, self.data):
                directory.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
            self.path.chmod(PRIVATE_DIRECTORY)
        ignored = self.path / ".gitignore"
        if not ignored.exists():
            write_atomically(ignored, "*\n")

    @contextlib.contextmanager
    def operation(self, clock: Clock) -> Iterator[None]:
        """Hold off every other command that starts, stops or removes; see `lock.locked`."""
        self.prepare()
        path = self.path / "operation.lock"
        with locked(path, clock=clock, timeout_seconds=OPERATION_WAIT_SECONDS):
            yield

    @contextlib.contextmanager
    def editing(self, name: str, clock: Clock) -> Iterator[None]:
        """Hold off every other command that edits the file of that name."""
        self.prepare()
        path = self.path / f"{name}.lock"
        with locked(path, clock=clock, timeout_seconds=QUICK_WAIT_SECONDS):
            yield

    def ensure_owner_token(self) -> None:
        """Make the owner token unless there is one."""
        if not self.owner_token.exists():
            write_atomically(self.owner_token, secrets.token_urlsafe(TOKEN_BYTES) + "\n")

    def stored(self) -> StoredConfig | None:
        """Return what the last configure stored."""
        return _read(self.path / "stored.json", StoredConfig)

    def store(self, stored: StoredConfig) -> None:
        """Replace the stored configuration."""
        write_json(self.path / "stored.json", asdict(stored))

    def delivery(self) -> Delivery | None:
        """Return what the server reads at its start.

        The document is the truth; the record beside it adds when and how, if it is about it.
        """
        document = read_json(self.delivered)
        if document is None:
            return None
        digest = project_config.digest(document)
        record = read_json(self.path / "delivery.json") or {}
        about_it = record.get("digest") == digest
        return Delivery(
            document=document,
            digest=digest,
            at=record.get("at") if about_it else None,
            local_models=bool(record.get("local_models")),
        )

    def deliver(self, delivery: Delivery) -> None:
        """Replace what the server reads at its next start."""
        record = {
            "digest": delivery.digest,
            "at": delivery.at,
            "local_models": delivery.local_models,
        }
        write_json(self.delivered, delivery.document)
        write_json(self.path / "delivery.json", record)

    def delivered_agent(self) -> Mapping[str, Any] | None:
        """Return what the server was last told of an agent of the user's own."""
        return read_json(self.agent)

    def deliver_agent(self, agent: Mapping[str, Any] | None) -> None:
        """Replace what the server is told of the agent at its next start; None: there is none."""
        if agent is not None:
            write_json(self.agent, agent)
            return
        with refusing_clearly(self.agent):
            self.agent.unlink(missing_ok=True)

    def withdraw(self) -> None:
        """Take the delivered configuration back: none was ever applied."""
        with refusing_clearly(self.delivered):
            for path in (self.delivered, self.path / "delivery.json"):
                path.unlink(missing_ok=True)

    def server(self) -> ServerRecord | None:
        """Return the record of the process last started."""
        return _read(self.path / "server.json", ServerRecord)

    def record_server(self, record: ServerRecord) -> None:
        """Replace the record of the process last started."""
        write_json(self.path / "server.json", asdict(record))

    def keep_port(self, port: int) -> None:
        """Remember the port beyond the removal of everything else."""
        write_json(self.path / "port.json", {"port": port})

    def kept_port(self) -> int | None:
        """Return the port of a server that was removed."""
        port = (read_json(self.path / "port.json") or {}).get("port")
        return port if isinstance(port, int) else None

    def record_end(self, record: ServerRecord, *, at: datetime, exit_code: int | None) -> None:
        """Write down that the process ended by itself."""
        ended = replace(record, stopped_at=at.isoformat(), exit_code=exit_code, crashed=True)
        self.record_server(ended)

    def removable(self) -> list[Path]:
        """Return what a clean removes: everything made here, nothing the user typed in."""
        names = (
            *("data", "logs", "delivered.json", "delivery.json", "agent.json", "server.json"),
            "owner-token",
        )
        return [self.path / name for name in names if (self.path / name).exists()]


def _read(path: Path, kind: type[Record]) -> Record | None:
    document = read_json(path)
    if document is None:
        return None
    known = {field.name for field in fields(kind)}
    try:
        return kind(**{name: value for name, value in document.items() if name in known})
    except TypeError as error:
        raise StateDamaged(
            f"Cannot read {path}: a key is missing.", hint=f"Delete {path}"
        ) from error
