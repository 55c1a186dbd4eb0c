"""The services that serve, and how they are replaced by others without a pause."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic

from memory_server.domain.characters import whole
from memory_server.domain.deployment import Applied, ApplyRequest, RunningConfig, Secret
from memory_server.domain.deployment_plan import secret_changes
from memory_server.errors import (
    ApplyInProgress,
    EmbeddingSpaceChanged,
    ManagedElsewhere,
    MemoryServerError,
    RollFailed,
)
from memory_server.ports.clock import Clock
from memory_server.ports.deployment import DeploymentFiles
from memory_server.ports.store import Store
from memory_server.services.configuration import (
    ConfigReport,
    Configuration,
    Plan,
    Present,
    Receipt,
    running_config,
    settings_of,
)
from memory_server.services.readiness import Readiness
from memory_server.services.release import R, Succeed
from memory_server.services.secrets import Secrets
from memory_server.services.tenure import Pin, Tenure
from memory_server.settings import ConfigSource, Settings

logger = logging.getLogger(__name__)

DRAIN_SECONDS = 20.0
"""How long replaced or stopping services may finish the jobs they have begun."""
QUIET_SECONDS = 10.0
"""How long new requests are held back at most until the begun ones have ended; only where the
embedding space changes, so that no vector of the old space comes after the switch."""
SHORT_DRAIN_SECONDS = 5.0
"""As `DRAIN_SECONDS`, while requests are held back."""


MANAGED = (
    "the configuration of this server is delivered by whoever starts it "
    "(AGENTENGINE_MEMORY_CONFIG), and would be used again at its next start. In the project's "
    "directory: agentengine memory configure, then agentengine memory apply"
)
SECRETS_MANAGED = (
    "the keys of this server are given by whoever starts it. In the project's directory: "
    "agentengine secret set, then agentengine memory apply"
)


@dataclass(slots=True)
class LastApply:
    """How the last apply of this process went."""

    outcome: str
    """`applied` or `failed`."""
    at: datetime
    error: str | None = None


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
        files: DeploymentFiles,
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
        self._drain_seconds = drain_seconds
        self._quiet_seconds = quiet_seconds
        self._tenure = Tenure(first, since=clock.now())
        self._open = asyncio.Event()
        self._open.set()
        self._rolling: asyncio.Task[Applied] | None = None
        self._leaving: set[asyncio.Task[None]] = set()
        self._configuration = Configuration(files=files, clock=clock)
        self._secrets = Secrets(files=files, clock=clock)
        self.last_apply: LastApply | None = None

    @property
    def current(self) -> R:
        """The services that new requests are served by."""
        return self._tenure.release

    @property
    def running(self) -> RunningConfig:
        """The configuration they run, and since when."""
        return running_config(self.current.settings, since=self._tenure.since)

    @property
    def is_applying(self) -> bool:
        """Whether an apply is at work."""
        return self._rolling is not None and not self._rolling.done()

    def begin(self) -> None:
        """Start the background work; the store has to be open."""
        self._on_switch(self.current.settings)
        self._tenure.begin(self.current.run)

    async def end(self) -> None:
        """End the work in order, an apply too; `current` is then to be closed."""
        if self._rolling is not None:
            self._rolling.cancel()
            await asyncio.wait({self._rolling})
        await self._tenure.end_work(self._drain_seconds)
        for leaving in self._leaving:
            leaving.cancel()
        if self._leaving:
            await asyncio.wait(self._leaving)

    async def pin(self, *, waits: bool) -> Pin[R]:
        """Return a hold on the services that serve now, to be ended with the request.

        With `waits`, a moment in which nothing may be written is waited out first.
        """
        if waits:
            await self._open.wait()
        return self._tenure.pin()

    async def look(self) -> tuple[R, Readiness]:
        """Return the services that serve and how they are.

        Those that were replaced while they were looked at would only tell of their own end.
        """
        while True:
            release = self.current
            found = await release.readiness.look()
            if release is self.current:
                return release, found

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
        if self.is_applying:
            raise ApplyInProgress("another apply is at work; ask again when it has ended")
        self._rolling = asyncio.create_task(self._noted(request), name="apply")
        self._rolling.add_done_callback(_take_notice)
        return await asyncio.shield(self._rolling)

    async def _noted(self, request: ApplyRequest) -> Applied:
        """Apply, and remember how it went."""
        try:
            applied = await self._apply(request)
        except MemoryServerError as error:
            self._note("failed", str(error))
            raise
        except Exception as error:
            logger.exception("an apply failed on a fault of the program")
            self._note("failed", f"{type(error).__name__}: see the log")
            raise
        if applied.applied:
            self._note("applied")
        return applied

    def _note(self, outcome: str, error: str | None = None) -> None:
        at = self._clock.now()
        self.last_apply = LastApply(outcome=outcome, at=at, error=error and whole(error))

    async def _apply(self, request: ApplyRequest) -> Applied:
        planned = await self._planned(request)
        if not planned.changes:
            return planned.outcome(applied=False)
        logger.info("applying: %s", "; ".join(planned.changes))
        release = self._joined(planned.settings)
        try:
            warnings = await self._proven(release)
            await self._switch(planned.plan, release)
        except BaseException:
            await release.let_go(self.current)
            raise
        return planned.outcome(applied=True, warnings=warnings)

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

    def _joined(self, settings: Settings) -> R:
        try:
            return self._succeed(settings, self.current)
        except MemoryServerError as error:
            raise _failed([str(error)]) from error

    async def _proven(self, release: R) -> Sequence[str]:
        """Return once the models answer; those that serve already may go on failing."""
        await release.readiness.probe()
        look = await release.readiness.look()
        told = {"embedding": look.embedding["problem"], "extraction": look.extraction["problem"]}
        failing = {part: f"{part}: {problem}" for part, problem in told.items() if problem}
        new = [text for part, text in failing.items() if not release.shares(part, self.current)]
        if new:
            raise _failed(new)
        return list(failing.values())

    async def _switch(self, plan: Plan, release: R) -> None:
        if not plan.changes_space:
            await self._hand_over(plan, release)
            return
        self._open.clear()
        try:
            await self._stand_still()
            try:
                await self._check_still_empty()
                await self._hand_over(plan, release)
            except Exception:  # its work has ended: the same services begin anew
                await self._take_office(self._succeed(self.current.settings, self.current))
                raise
        finally:
            self._open.set()

    async def _stand_still(self) -> None:
        """Let everything end that could still write a vector."""
        try:
            async with asyncio.timeout(self._quiet_seconds):
                await self._tenure.quiet()
        except TimeoutError:
            raise _failed(["requests did not end within the time; apply again"]) from None
        await self._tenure.end_work(SHORT_DRAIN_SECONDS)

    async def _check_still_empty(self) -> None:
        vectors = (await self._present()).vectors
        if vectors:
            raise EmbeddingSpaceChanged(
                f"nothing was changed: meanwhile the store came to hold {vectors} vectors of the "
                "present embedding model"
            )

    async def _hand_over(self, plan: Plan, release: R) -> None:
        # First the file: whatever ends the process from here on, the next one runs the same.
        await self._configuration.note_applied(plan)
        await self._take_office(release)

    async def _take_office(self, release: R) -> None:
        """Let a release serve from now on, and see off the one that did."""
        fresh = Tenure(release, since=self._clock.now())
        fresh.begin(release.run)
        try:
            await asyncio.sleep(0)  # its work begins, so that readiness never says otherwise
        except asyncio.CancelledError:
            await fresh.end_work(0)
            raise
        former, self._tenure = self._tenure, fresh
        self._on_switch(release.settings)
        earlier = set(self._leaving)
        leaving = asyncio.create_task(self._see_off(former, release, earlier), name="see off")
        self._leaving.add(leaving)
        leaving.add_done_callback(self._leaving.discard)

    async def _see_off(
        self, former: Tenure[R], successor: R, earlier: set[asyncio.Task[None]]
    ) -> None:
        """End what went before; models go when no request uses them, in order of age."""
        try:
            await former.end_work(self._drain_seconds)
            await former.quiet()
            if earlier:
                await asyncio.wait(earlier)
        finally:
            await former.release.let_go(successor)

    async def _present(self) -> Present:
        described = await self._store.search.describe()
        return Present(
            running=self.running,
            secrets=await self._secrets.given(self._base.secrets),
            declares_types=self._base.custom_memory_types,
            vectors=int(described.get("vectors", 0)),
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


def _failed(problems: Sequence[str]) -> RollFailed:
    return RollFailed(
        f"the services with the new configuration are not ready: {'; '.join(problems)}. Those "
        "before serve on, and the configuration stays pending"
    )


def _take_notice(task: "asyncio.Task[Applied]") -> None:
    """Look at how an apply ended whose caller has left, so that nothing complains."""
    if not task.cancelled():
        task.exception()


def _ignore(_: Settings) -> None:
    """Be the listener of a caller who needs none."""
