"""Doing as the other servers: putting into effect here what was applied on one of them."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta

from memory_server import project_config
from memory_server.domain import deployment_plan as rules
from memory_server.domain.characters import whole
from memory_server.domain.deployment import Applied, AppliedConfig, RunningConfig
from memory_server.errors import ApplyInProgress, MemoryServerError, ProviderKeyMissing
from memory_server.ports.clock import Clock
from memory_server.ports.deployment import DeploymentRecords
from memory_server.services.servers import Presence
from memory_server.settings import ConfigSource, Settings

logger = logging.getLogger(__name__)

CLAIM = timedelta(minutes=2)
"""How long one server may take to apply before another may: longer than models are waited for."""
AGAIN = timedelta(minutes=1)
"""When a configuration that could not be put into effect here is tried again."""


class Following:
    """Knows what was applied last, whether it runs here, and who may apply."""

    def __init__(
        self, *, records: DeploymentRecords, base: Settings, clock: Clock, presence: Presence
    ) -> None:
        """Prepare; `base` is what the environment gave."""
        self._records = records
        self._base = base
        self._clock = clock
        self._presence = presence
        self._failed: tuple[str, datetime] | None = None
        """The digest of what could not be put into effect, and when."""

    @asynccontextmanager
    async def claimed(self) -> AsyncIterator[None]:
        """Apply alone among all servers; raises `ApplyInProgress`, naming who does at the moment.

        A server that dies meanwhile loses its claim after two minutes.
        """
        me, now = self._presence.me.id, self._clock.now()
        other = await self._records.claim(me, now=now, until=now + CLAIM)
        if other is not None:
            raise ApplyInProgress(f"server {other} is applying; ask again when it has ended")
        try:
            yield
        finally:
            await asyncio.shield(asyncio.ensure_future(self._records.let_go(me)))

    async def applied(self) -> AppliedConfig | None:
        """Return what was applied last, or None where a configuration was delivered instead."""
        if self._base.source is ConfigSource.DELIVERED:
            return None
        return await self._records.applied()

    def runs(self, applied: AppliedConfig, running: RunningConfig) -> bool:
        """Whether it is what the services run."""
        local_models = self._base.local_models or applied.local_models
        return (
            running.source is ConfigSource.APPLIED
            and running.digest == applied.digest
            and running.local_models == local_models
        )

    def rests(self, applied: AppliedConfig) -> bool:
        """Whether it failed here a moment ago."""
        if self._failed is None or self._failed[0] != applied.digest:
            return False
        return self._clock.now() < self._failed[1] + AGAIN

    def settings(self, applied: AppliedConfig, secrets: Mapping[str, str]) -> Settings:
        """Return the settings of services that run it; raises `InvalidProjectConfig`."""
        return replace(
            self._base,
            memory=project_config.parse(applied.document),
            document=applied.document,
            config_digest=applied.digest,
            source=ConfigSource.APPLIED,
            local_models=self._base.local_models or applied.local_models,
            secrets=secrets,
        )

    async def follow(
        self, applied: AppliedConfig, roll: Callable[[], Awaitable[Applied]]
    ) -> Applied:
        """Put it into effect by `roll`; what fails is told to the other servers, and why."""
        logger.info("following what was applied on another server: %s", applied.digest[:12])
        try:
            followed = await roll()
        except MemoryServerError as error:
            self._failed = applied.digest, self._clock.now()
            self._presence.fails(
                f"the applied configuration {applied.digest[:12]} does not run here: "
                f"{whole(str(error))}"
            )
            raise
        self._failed = None
        return followed


def check_keys(settings: Settings) -> None:
    """Raise `ProviderKeyMissing` where this server has no key for a configured provider."""
    missing = rules.missing_keys(
        settings.memory, settings.secrets, local_models=settings.local_models
    )
    if missing:
        raise ProviderKeyMissing(
            f"{'; '.join(map(rules.told, missing))}. Set it in the environment of this server, "
            "and start it anew"
        )
