"""What the server is configured with: storing it, comparing it, planning an apply."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memory_server import project_config
from memory_server.domain import deployment_plan as rules
from memory_server.domain.custom_type import NOT_ENABLED
from memory_server.domain.deployment import (
    AppliedConfig,
    ApplyRequest,
    RunningConfig,
    StoredConfig,
)
from memory_server.domain.spaces import SpacesInUse, reached
from memory_server.errors import (
    EmbeddingSpaceChanged,
    Forbidden,
    InvalidProjectConfig,
    NothingStored,
    ProviderKeyMissing,
)
from memory_server.ports.clock import Clock
from memory_server.ports.deployment import DeploymentRecords
from memory_server.project_config import MemoryConfig, Problem
from memory_server.settings import ConfigSource, Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """What a configuration is judged against."""

    running: RunningConfig
    secrets: Mapping[str, str]
    """Provider keys as they would be given to new services."""
    spaces: SpacesInUse
    """Whose vectors the store holds."""
    declares_types: bool = True
    """Whether projects may declare memory types here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigReport:
    """What is stored and what runs."""

    stored: StoredConfig | None
    running: RunningConfig
    pending: bool
    applied_at: datetime | None
    warnings: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """A configuration that was stored."""

    stored: StoredConfig
    pending: bool
    changes: Sequence[str]
    warnings: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """An apply that may be done."""

    stored: StoredConfig
    config: MemoryConfig
    local_models: bool
    changes: Sequence[str]
    """Why the services are to be replaced, the keys apart."""
    ahead: SpacesInUse
    """Whose vectors answer then, and whose are made."""
    changes_space: bool
    """Whether vectors would be of another space from then on, and there are none yet."""


class Configuration:
    """Keeps the configuration of the server for the next apply, and judges it."""

    def __init__(self, *, records: DeploymentRecords, clock: Clock) -> None:
        self._records = records
        self._clock = clock

    async def report(self, running: RunningConfig) -> ConfigReport:
        """Say what is stored beside what runs."""
        stored, applied = await self._records.stored(), await self._records.applied()
        return ConfigReport(
            stored=stored,
            running=running,
            pending=rules.is_pending(stored, running),
            applied_at=applied.at if applied else None,
            warnings=list(_unused(stored, running)),
        )

    async def put(
        self, document: Mapping[str, Any], present: Present, *, may_redirect: bool = True
    ) -> Receipt:
        """Store a valid `memory:` mapping; nothing is restarted.

        Raises `InvalidProjectConfig` with every problem at once; what was stored stays then.
        What is stored already keeps its time. Unless the caller `may_redirect`, where
        conversations and keys are sent has to stay, else `Forbidden`.
        """
        parsed = project_config.parse_with_warnings(document)
        if not may_redirect:
            _check_destinations(parsed.config, present)
        _check_allowed(parsed.config, document, present)
        before = await self._records.stored()
        stored = StoredConfig(
            document=document, digest=project_config.digest(document), at=self._clock.now()
        )
        if before is not None and before.digest == stored.digest:
            stored = before
        else:
            await self._records.store(stored)
        compared = before.document if before else present.running.document
        return Receipt(
            stored=stored,
            pending=rules.is_pending(stored, present.running),
            changes=project_config.differences(compared, document),
            warnings=[*map(str, parsed.warnings), *_expected(parsed.config, document, present)],
        )

    async def plan(self, request: ApplyRequest, base: Settings, present: Present) -> Plan:
        """Return what an apply has to do, having made sure that it may.

        `base` is what the environment gave. Raises `NothingStored`, `ProviderKeyMissing`,
        `EmbeddingSpaceChanged`, or `InvalidProjectConfig` for what was valid once.
        """
        stored = await self._records.stored()
        if stored is None:
            raise NothingStored(
                "no memory configuration is stored for this server; store one first: "
                "agentengine memory configure"
            )
        config = project_config.parse(stored.document)
        _check_allowed(config, stored.document, present)
        local_models = base.local_models or request.local_models
        _check_keys(config, present, local_models=local_models)
        spaces = present.spaces
        wanted = rules.embedding_of(stored.document, local_models=local_models)
        if not request.reembed and not reached(spaces, wanted):
            raise EmbeddingSpaceChanged(
                f"nothing was changed: {rules.why_space_stays(spaces, wanted)}"
            )
        return Plan(
            stored=stored,
            config=config,
            local_models=local_models,
            changes=[
                *rules.changes(present.running, stored, local_models=local_models),
                *rules.space_changes(spaces, wanted),
            ],
            ahead=spaces.led_to(wanted),
            changes_space=spaces.is_empty and _space_of(present.running) != wanted.space,
        )

    async def note_applied(self, plan: Plan, *, by: str) -> None:
        """Make it the configuration that every process starts with, if `by` may still apply."""
        await self._records.note_applied(
            AppliedConfig(
                document=plan.stored.document,
                digest=plan.stored.digest,
                at=self._clock.now(),
                local_models=plan.local_models,
            ),
            by=by,
        )


def settings_of(plan: Plan, base: Settings, secrets: Mapping[str, str]) -> Settings:
    """Return the settings of services that run a planned configuration."""
    settings = replace(
        base,
        memory=plan.config,
        document=plan.stored.document,
        config_digest=plan.stored.digest,
        source=ConfigSource.APPLIED,
        local_models=plan.local_models,
        secrets=secrets,
    )
    return rules.fitting(settings, plan.ahead)


def running_config(settings: Settings, *, since: datetime) -> RunningConfig:
    """Return the configuration of services that have these settings."""
    return RunningConfig(
        document=settings.document,
        digest=settings.config_digest or project_config.digest(settings.document),
        since=since,
        source=settings.source,
        local_models=settings.local_models,
    )


def _space_of(running: RunningConfig) -> str:
    return rules.embedding_of(running.document, local_models=running.local_models).space


def _check_allowed(config: MemoryConfig, document: Mapping[str, Any], present: Present) -> None:
    """Raise `InvalidProjectConfig` for what is valid, and is not to be had here."""
    problems = [*project_config.check_against_stored(present.running.document, document)]
    if config.custom_memory_types and not present.declares_types:
        message = f"{NOT_ENABLED} on this deployment; nothing was stored"
        problems.append(Problem(path="memory.custom_memory_types", message=message))
    if problems:
        raise InvalidProjectConfig("\n".join(map(str, problems)), problems=tuple(problems))


def _check_destinations(config: MemoryConfig, present: Present) -> None:
    """Raise `Forbidden` for a configuration that would send what is confided to us elsewhere."""
    paths = list(rules.redirections(present.running, config))
    if paths:
        raise Forbidden(
            f"{', '.join(paths)}: where conversations and provider keys are sent is changed with "
            "the owner token or by somebody with the role PROJECT_OWNER; a service account's "
            "token does not do it. Nothing was stored"
        )


def _check_keys(config: MemoryConfig, present: Present, *, local_models: bool) -> None:
    missing = rules.missing_keys(config, present.secrets, local_models=local_models)
    if missing:
        problems = [rules.told(need) for need in missing]
        raise ProviderKeyMissing(
            f"nothing was changed, because a configured provider has no key. "
            f"{'; '.join(problems)}. Set it with: agentengine secret set {missing[0].names[0]}",
            problems=problems,
        )


def _expected(config: MemoryConfig, document: Mapping[str, Any], present: Present) -> Iterator[str]:
    """Yield what its author should know before an apply."""
    if config.enabled_by_absence:
        yield project_config.effective_types_line(config)
    running = present.running
    for need in rules.missing_keys(config, present.secrets, local_models=running.local_models):
        yield f"an apply would be refused: {rules.told(need)}"
    wanted = rules.embedding_of(document, local_models=running.local_models)
    if not reached(present.spaces, wanted):
        yield f"an apply would be refused: {rules.why_space_stays(present.spaces, wanted)}"


def _unused(stored: StoredConfig | None, running: RunningConfig) -> Iterator[str]:
    if running.source is ConfigSource.DELIVERED and stored is not None:
        yield (
            f"the configuration stored over HTTP at {stored.at.isoformat()} is not used: whoever "
            "started this process delivered another"
        )
