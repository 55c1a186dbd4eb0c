"""The services that serve, and how they are replaced by others without a pause."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Generic

from memory_server.domain.deployment import (
    Applied,
    AppliedConfig,
    ApplyRequest,
    RunningConfig,
    Secret,
)
from memory_server.domain.deployment_plan import fits, fitting, secret_changes, space_changes
from memory_server.domain.spaces import SpacesInUse
from memory_server.errors import (
    EmbeddingSpaceChanged,
    ManagedElsewhere,
    MemoryServerError,
)
from memory_server.ports.clock import Clock
from memory_server.ports.deployment import DeploymentRecords
from memory_server.ports.store import Store
from memory_server.project_config import differences
from memory_server.services.applies import Applies
from memory_server.services.configuration import (
    ConfigReport,
    Configuration,
    Plan,
    Present,
    Receipt,
    running_config,
    settings_of,
)
from memory_server.services.containment import contained
from memory_server.services.following import Following, check_keys
from memory_server.services.proving import proven, roll_failed
from memory_server.services.readiness import Readiness
from memory_server.services.reembedding import declared
from memory_server.services.release import R, Succeed
from memory_server.services.secrets import Secrets
from memory_server.services.servers import Presence
from memory_server.services.succession import DRAIN_SECONDS, QUIET_SECONDS, Succession
from memory_server.services.tenure import Pin
from memory_server.settings import ConfigSource, Settings

logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
"""How often it is looked whether the vectors of another model answer by now."""
MANAGED = (
    "the configuration of this server is delivered by whoever starts it "
    "(AGENTENGINE_MEMORY_CONFIG), and would be used again at its next start. In the project's "
    "directory: agentengine memory configure, then agentengine memory apply"
)
SECRETS_MANAGED = (
    "the keys of this server are given by whoever starts it. In the project's directory: "
    "agentengine secret set, then agentengine memory apply"
)


class Deployment(Generic[R]):
    """Holds the services that serve now, and puts others in their place.

    A request is served by the services it began on. One apply at a time.
    """

    def __init__(
        self,
        first: R,
        *,
        base: Settings,
        succeed: Succeed[R],
        store: Store,
        records: DeploymentRecords,
        presence: Presence,
        clock: Clock,
        on_switch: Callable[[Settings], None] | None = None,
        drain_seconds: float = DRAIN_SECONDS,
        quiet_seconds: float = QUIET_SECONDS,
    ) -> None:
        """Prepare; `base` is what the environment gave, before anything was applied."""
        self._base = base
        self._succeed = succeed
        self._store = store
        self._clock = clock
        self._on_switch = on_switch or _ignore
        self._succession = Succession(
            first,
            clock=clock,
            on_switch=self._told,
            drain_seconds=drain_seconds,
            quiet_seconds=quiet_seconds,
        )
        self.applies = Applies(clock)
        self._watching: asyncio.Task[None] | None = None
        self._configuration = Configuration(records=records, clock=clock)
        self._secrets = Secrets(records=records, clock=clock)
        self._presence = presence
        self._following = Following(records=records, base=base, clock=clock, presence=presence)
        self._draining: asyncio.Task[None] | None = None

    @property
    def current(self) -> R:
        """The services that new requests are served by."""
        return self._succession.current

    @property
    def running(self) -> RunningConfig:
        """The configuration they run, and since when."""
        return running_config(self.current.settings, since=self._succession.since)

    async def prepare(self) -> None:
        """Let the first services be those for the store, which is open.

        They run what was applied on another server, and serve the vectors that there are.
        """
        applied = await self._following.applied()
        if applied is not None and not self._following.runs(applied, self.running):
            secrets = await self._secrets.given(self._base.secrets)
            await self._begin_with(self._following.settings(applied, secrets))
        spaces = await declared(self._store, self.current.settings.embedding, self._clock)
        if not fits(self.current.settings, spaces):
            await self._begin_with(fitting(self.current.settings, spaces))

    def begin(self) -> None:
        """Start the background work; the store has to be open. One that stops begins nothing."""
        if self._draining is not None:
            return
        self._presence.listen(self.follow)
        self._succession.begin()
        self._watching = asyncio.create_task(self._watch_spaces(), name="watch spaces")

    async def end(self) -> None:
        """End the work in order, an apply too; `current` is then to be closed."""
        await asyncio.wait({self.drain()})
        await self._succession.end()

    def drain(self) -> "asyncio.Task[None]":
        """Begin no work any more, end or put back what was begun, and say so; do not wait for it.

        Requests are served as long as they come.
        """
        if self._draining is None:
            self._draining = asyncio.create_task(self._drain(), name="drain")
        return self._draining

    async def _drain(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait({self._watching})
        await self.applies.end()
        await asyncio.gather(self._presence.drain(), self._succession.end_work())

    async def pin(self, *, waits: bool) -> Pin[R]:
        """Return a hold on the services that serve now, to be ended with the request.

        With `waits`, a moment in which nothing may be written is waited out first.
        """
        return await self._succession.pin(waits=waits)

    async def look(self) -> tuple[R, Readiness]:
        """Return the services that serve and how they are.

        Those that were replaced while they were looked at would only tell of their own end.
        """
        while True:
            release = self.current
            found = await release.readiness.look()
            if release is self.current:
                return release, found if self._draining is None else found.stopping()

    async def config(self) -> ConfigReport:
        """Say what is stored and what runs."""
        return await self._configuration.report(self.running)

    async def store_config(
        self, document: Mapping[str, Any], *, may_redirect: bool = True
    ) -> Receipt:
        """Store a configuration for the next apply; see `Configuration.put`."""
        self._check_ours(MANAGED)
        return await self._configuration.put(
            document, await self._present(), may_redirect=may_redirect
        )

    async def secrets(self) -> Sequence[Secret]:
        """Return the secrets of the deployment's project."""
        return await self._secrets.list()

    async def put_secret(self, name: str, value: str, *, description: str | None) -> Secret:
        """Set a secret; the models are given it by the next apply."""
        self._check_ours(SECRETS_MANAGED)
        return await self._secrets.put(name, value, description=description)

    async def delete_secret(self, name: str) -> None:
        """Remove a secret."""
        self._check_ours(SECRETS_MANAGED)
        await self._secrets.delete(name)

    async def apply(self, request: ApplyRequest) -> Applied:
        """Replace the services by others with the stored configuration, once those are ready.

        Goes on to its end though the caller leaves. Raises, besides what `Configuration.plan`
        raises, `ApplyInProgress` and `RollFailed`; the services before then serve on.
        """
        self._check_ours(MANAGED)
        if request.dry_run:
            return (await self._planned(request)).outcome(applied=False)
        return await self.applies.alone(lambda: self._apply_claimed(request))

    async def reembed(self) -> Applied:
        """Have every vector made anew if those that answer are not of the configured model.

        The other way round, what is being made of another model is given up. Raises
        `ApplyInProgress`, and `RollFailed` if the configured model does not answer.
        """
        return await self.applies.alone(self._reembed)

    async def attune(self) -> None:
        """Let services serve that fit the spaces of the store, if these do not any more."""
        spaces = await self._store.spaces.look()
        if not self.applies.is_at_work and not fits(self.current.settings, spaces):
            settings = fitting(self.current.settings, spaces)
            await self._succession.take_office(self._succeed(settings, self.current))

    async def _watch_spaces(self) -> None:
        """Notice what any server does to the spaces; a look that fails is made again."""
        while True:
            await self._clock.sleep(LOOK_SECONDS)
            try:
                await contained(self.attune())
            except MemoryServerError as error:
                logger.warning("the embedding spaces cannot be looked at: %s", error)
            except Exception:
                logger.exception("the services could not be fitted to the embedding spaces")

    async def follow(self) -> None:
        """Notice what another server applied, and begin to put it into effect here too."""
        if self._draining is not None or self.applies.is_at_work:
            return
        applied = await self._following.applied()
        if applied is None or self._following.runs(applied, self.running):
            return
        if not self._following.rests(applied):
            self.applies.begin(lambda: self._follow(applied))

    async def _follow(self, applied: AppliedConfig) -> Applied:
        secrets = await self._secrets.given(self._base.secrets)

        async def roll() -> Applied:
            settings = self._following.settings(applied, secrets)
            check_keys(settings)
            spaces = await declared(self._store, settings.embedding, self._clock)
            changes = [*differences(self.running.document, applied.document)]
            async with self._proposed(fitting(settings, spaces)) as (release, _):
                await self._succession.take_office(release)
            return Applied(applied=True, digest=applied.digest, changes=changes)

        return await self._following.follow(applied, roll)

    async def _apply_claimed(self, request: ApplyRequest) -> Applied:
        async with self._following.claimed():
            return await self._apply(request)

    async def _apply(self, request: ApplyRequest) -> Applied:
        planned = await self._planned(request)
        if not planned.changes:
            if request.reembed:  # what was given up is tried again
                await self._lead(planned.plan.ahead, self.current)
            return planned.outcome(applied=False)
        logger.info("applying: %s", "; ".join(planned.changes))
        async with self._proposed(planned.settings) as (release, warnings):
            await self._switch(planned.plan, release)
        return planned.outcome(applied=True, warnings=warnings)

    async def _reembed(self) -> Applied:
        settings = self.current.settings
        spaces = await declared(self._store, settings.embedding, self._clock)
        changes = list(space_changes(spaces, settings.embedding))
        ahead = spaces.led_to(settings.embedding)
        if not changes and fits(settings, ahead):
            await self._lead(ahead, self.current)
            return Applied(applied=False, digest=self.running.digest)
        async with self._proposed(fitting(settings, ahead)) as (release, _):
            await self._lead(ahead, release)
            await self._succession.take_office(release)
        return Applied(applied=bool(changes), digest=self.running.digest, changes=changes)

    async def _lead(self, ahead: SpacesInUse, release: R) -> None:
        """Let the store go where its vectors are to be led; vectors that there are answer on."""
        if ahead.target is not None:
            await release.reembedding.begin(ahead.target)
        else:
            await self._store.spaces.cancel(now=self._clock.now())
        await self._store.spaces.declare(release.settings.embedding, now=self._clock.now())

    async def _planned(self, request: ApplyRequest) -> "_Planned":
        present = await self._present()
        plan = await self._configuration.plan(request, self._base, present)
        changes = [
            *plan.changes,
            *secret_changes(self.current.settings.secrets, present.secrets),
            *(["the services are replaced because that was asked for"] if request.force else []),
        ]
        settings = settings_of(plan, self._base, present.secrets)
        return _Planned(plan=plan, settings=settings, changes=changes)

    @asynccontextmanager
    async def _proposed(self, settings: Settings) -> AsyncIterator[tuple[R, Sequence[str]]]:
        """Join services and prove them; they are dropped unless they come to serve."""
        try:
            release = self._succeed(settings, self.current)
        except MemoryServerError as error:
            raise roll_failed([str(error)]) from error
        try:
            yield release, await proven(release, self.current)
        except BaseException:
            await release.let_go(self.current)
            raise

    async def _switch(self, plan: Plan, release: R) -> None:
        if not plan.changes_space:
            await self._hand_over(plan, release)
            return
        self._succession.hold_back()
        try:
            await self._stand_still()
            try:
                await self._check_still_empty()
                await self._hand_over(plan, release)
            except Exception:  # its work has ended: the same services begin anew
                await self._succession.take_office(
                    self._succeed(self.current.settings, self.current)
                )
                raise
        finally:
            self._succession.open()

    async def _stand_still(self) -> None:
        """Let everything end that could still write a vector."""
        try:
            await self._succession.stand_still()
        except TimeoutError:
            raise roll_failed(["requests did not end within the time; apply again"]) from None

    async def _check_still_empty(self) -> None:
        vectors = (await self._present()).spaces.held
        if vectors:
            raise EmbeddingSpaceChanged(
                f"nothing was changed: meanwhile the store came to hold {vectors} vectors of the "
                "present embedding model"
            )

    async def _hand_over(self, plan: Plan, release: R) -> None:
        # First the file: whatever ends the process from here on, the next one runs the same.
        await self._configuration.note_applied(plan, by=self._presence.me.id)
        await self._lead(plan.ahead, release)
        await self._succession.take_office(release)

    async def _begin_with(self, settings: Settings) -> None:
        await self._succession.begin_with(self._succeed(settings, self.current))

    def _told(self, release: R) -> None:
        """Tell who wants to know which services serve."""
        self._on_switch(release.settings)
        self._presence.runs(self.running.digest)

    async def _present(self) -> Present:
        return Present(
            running=self.running,
            secrets=await self._secrets.given(self._base.secrets),
            declares_types=self._base.custom_memory_types,
            spaces=await declared(self._store, self.current.settings.embedding, self._clock),
        )

    def _check_ours(self, reason: str) -> None:
        if self._base.source is ConfigSource.DELIVERED:
            raise ManagedElsewhere(reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Planned:
    """An apply that may be done, keys included."""

    plan: Plan
    settings: Settings
    changes: Sequence[str]

    def outcome(self, *, applied: bool, warnings: Sequence[str] = ()) -> Applied:
        digest = self.plan.stored.digest
        return Applied(applied=applied, digest=digest, changes=self.changes, warnings=warnings)


def _ignore(_: Settings) -> None:
    """Be the listener of a caller who needs none."""
