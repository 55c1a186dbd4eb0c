"""Configuration, apply and the state of the server, on the wire."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from memory_server.api.schemas.admin import CountsDocument
from memory_server.api.schemas.common import Answer, Body, Flag
from memory_server.api.schemas.servers import ServerDocument
from memory_server.domain.deployment import Applied, ApplyRequest, RunningConfig, StoredConfig
from memory_server.domain.job import JobCounts
from memory_server.project_config import memory_schema
from memory_server.services.applies import LastApply
from memory_server.services.configuration import ConfigReport, Receipt
from memory_server.services.readiness import Readiness
from memory_server.services.servers import Presence


def _mapping(given: Any) -> Any:
    if not isinstance(given, dict):
        raise ValueError(  # noqa: TRY004 a validator's error
            "expected the `memory:` mapping of project-config.yaml as an object"
        )
    return given


class ConfigBody(Body):
    """The `memory:` mapping of project-config.yaml; what stands beside it is ignored."""

    memory: Annotated[dict[str, Any], BeforeValidator(_mapping), WithJsonSchema(memory_schema())]
    """Null and blank values in it are values: they are judged as in the file."""


class ApplyBody(Body):
    """How to apply."""

    dry_run: Flag = False
    """Only say what would happen."""
    force: Flag = False
    """Replace the services though nothing changed."""
    local_models: Flag = False
    """Let the built-in models stand in for the configured providers."""

    reembed: Flag = False
    """Have all vectors made anew, in the background, if the embedding model is another one."""

    def request(self) -> ApplyRequest:
        """Return what is asked for."""
        return ApplyRequest(
            dry_run=self.dry_run,
            force=self.force,
            local_models=self.local_models,
            reembed=self.reembed,
        )


class StoredDocument(Answer):
    """The configuration that was stored last."""

    digest: str
    stored_at: str
    memory: dict[str, Any]

    @classmethod
    def of(cls, stored: StoredConfig) -> "StoredDocument":
        """Return it as it travels."""
        return cls(
            digest=stored.digest, stored_at=stored.at.isoformat(), memory=dict(stored.document)
        )


class RunningDocument(Answer):
    """The configuration that the services run."""

    digest: str
    since: str
    memory: dict[str, Any]
    source: str
    """`applied`, `delivered` (by whoever started the process) or `built_in`."""
    local_models: bool
    """Whether the built-in models stand in for the configured providers."""

    @classmethod
    def of(cls, running: RunningConfig) -> "RunningDocument":
        """Return it as it travels."""
        return cls(
            digest=running.digest,
            since=running.since.isoformat(),
            memory=dict(running.document),
            source=running.source.value,
            local_models=running.local_models,
        )


class ConfigDocument(Answer):
    """What is stored and what runs."""

    stored: StoredDocument | None
    running: RunningDocument
    pending: bool
    """Whether an apply would put another configuration into effect."""
    warnings: list[str]

    @classmethod
    def of(cls, report: ConfigReport) -> "ConfigDocument":
        """Return it as it travels."""
        return cls(
            stored=StoredDocument.of(report.stored) if report.stored else None,
            running=RunningDocument.of(report.running),
            pending=report.pending,
            warnings=list(report.warnings),
        )


class ConfigStored(Answer):
    """The receipt for a configuration."""

    digest: str
    stored_at: str
    pending: bool
    changes: list[str]
    """One line a changed key, against what was stored before; the first time, what runs."""
    warnings: list[str]

    @classmethod
    def of(cls, receipt: Receipt) -> "ConfigStored":
        """Return it as it travels."""
        return cls(
            digest=receipt.stored.digest,
            stored_at=receipt.stored.at.isoformat(),
            pending=receipt.pending,
            changes=list(receipt.changes),
            warnings=list(receipt.warnings),
        )


class AppliedDocument(Answer):
    """What an apply did, or, in a dry run, would do."""

    applied: bool
    """Whether other services serve now."""
    digest: str
    changes: list[str]
    """Why they were replaced; empty: there was nothing to do."""
    warnings: list[str]

    @classmethod
    def of(cls, applied: Applied) -> "AppliedDocument":
        """Return it as it travels."""
        return cls(
            applied=applied.applied,
            digest=applied.digest,
            changes=list(applied.changes),
            warnings=list(applied.warnings),
        )


class ConfigMark(Answer):
    """Which configuration, since when."""

    digest: str
    at: str


class RunningMark(ConfigMark):
    """Which configuration runs."""

    source: str
    """See `RunningDocument`."""


class RuntimeConfig(Answer):
    """Which configuration is stored, and which one runs."""

    stored: ConfigMark | None
    running: RunningMark
    pending: bool
    applied_at: str | None
    """When one was applied last; null: none ever was."""

    @classmethod
    def of(cls, report: ConfigReport) -> "RuntimeConfig":
        """Return it as it travels."""
        stored, running = report.stored, report.running
        return cls(
            stored=ConfigMark(digest=stored.digest, at=stored.at.isoformat()) if stored else None,
            running=RunningMark(
                digest=running.digest, at=running.since.isoformat(), source=running.source.value
            ),
            pending=report.pending,
            applied_at=report.applied_at.isoformat() if report.applied_at else None,
        )


class ApplyState(Answer):
    """Whether an apply is at work, and how the last one of this process went."""

    running: bool
    outcome: str | None = None
    """`applied` or `failed`."""
    at: str | None = None
    error: str | None = None

    @classmethod
    def of(cls, last: LastApply | None, *, running: bool) -> "ApplyState":
        """Return it as it travels."""
        if last is None:
            return cls(running=running)
        return cls(running=running, outcome=last.outcome, at=last.at.isoformat(), error=last.error)


class ProvidersDocument(Answer):
    """The models, and whether they answer."""

    embedding: dict[str, Any]
    extraction: dict[str, Any]


class RuntimeDocument(Answer):
    """How the server is, and what it runs."""

    state: str
    """`ready`, `starting` or `blocked`."""
    blocked_on: list[str]
    config: RuntimeConfig
    apply: ApplyState
    version: str
    project_id: str
    local_models: bool
    providers: ProvidersDocument
    index: dict[str, Any]
    store: dict[str, Any]
    worker: dict[str, Any]
    """The background work: `state` and `problem`."""
    reembedding: dict[str, Any]
    """As readiness tells it."""
    review: dict[str, Any]
    """As readiness tells it."""
    projects: list[str]
    queue: CountsDocument
    """Jobs by state, of the whole server."""
    servers: list[ServerDocument]
    """Those at work on the store, as of the last heartbeat."""
    warnings: list[str] = Field(default_factory=list)

    @classmethod
    def of(
        cls,
        look: Readiness,
        report: ConfigReport,
        counts: JobCounts,
        *,
        apply: ApplyState,
        version: str,
        project_id: str,
        projects: list[str],
        presence: Presence,
    ) -> "RuntimeDocument":
        """Return it as it travels."""
        return cls(
            state=look.status,
            blocked_on=list(look.blocked_on),
            config=RuntimeConfig.of(report),
            apply=apply,
            version=version,
            project_id=project_id,
            local_models=report.running.local_models,
            providers=ProvidersDocument(
                embedding=dict(look.embedding), extraction=dict(look.extraction)
            ),
            index=dict(look.search),
            store=dict(look.store),
            worker=dict(look.background),
            reembedding=dict(look.reembedding),
            review=dict(look.review),
            projects=projects,
            queue=CountsDocument.of(counts),
            servers=[ServerDocument.of(server) for server in presence.alive],
            warnings=[*report.warnings, *presence.warnings, *look.waiting],
        )
