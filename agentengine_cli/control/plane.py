"""What the commands ask for: store, apply, restart, stop, status, clean."""

import importlib.metadata
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from agentengine_cli.control import addresses, environment, plan, readiness
from agentengine_cli.control.agent import deliverable
from agentengine_cli.control.clock import Clock, SystemClock
from agentengine_cli.control.drift import drift
from agentengine_cli.control.environment import KeySources
from agentengine_cli.control.files import refusing_clearly
from agentengine_cli.control.plan import Applied, ApplyRequest, Wanted
from agentengine_cli.control.readiness import Prober, probe
from agentengine_cli.control.reembedding import Leader, lead
from agentengine_cli.control.rollout import LOG_HINT, Rollout, StartFailed, ending
from agentengine_cli.control.secrets import SecretStore
from agentengine_cli.control.server import COMMAND, Outcome, Report, Server, describe
from agentengine_cli.control.state import Delivery, ServerRecord, StateDirectory, StoredConfig
from agentengine_cli.control.status import State, Status, observe
from agentengine_cli.control.store_change import StoreChange
from agentengine_cli.control.stores import StoreLook, look
from agentengine_cli.errors import CliError
from agentengine_cli.stack import Stack, dev_settings
from memory_server import project_config
from memory_server.project_config import ProjectConfig

WAIT_SECONDS = 300.0
"""How long a restart waits for readiness."""
GLANCE_SECONDS = 10.0
"""How long a start is watched when nobody asked to wait."""


class NothingStored(CliError):
    """There is no configuration to apply."""


class NothingDelivered(CliError):
    """No server was ever started here."""


class NotReady(CliError):
    """The server runs, and did not become ready in time."""


def _silent(_: str) -> None:
    """Be the report of a caller who does not want one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlane:
    """Everything that can be done to the memory server of one stack."""

    stack: Stack
    command: Sequence[str] = COMMAND
    clock: Clock = field(default_factory=SystemClock)
    prober: Prober = probe
    leader: Leader = lead
    look: StoreLook = look
    shell: Mapping[str, str] = field(default_factory=lambda: dict(os.environ), repr=False)

    @property
    def state(self) -> StateDirectory:
        """Where it is all kept."""
        return StateDirectory(self.stack.project)

    @property
    def url(self) -> str | None:
        """Where the server is, if its process is alive."""
        record = self.state.server()
        return record.url if record and record.process.is_running else None

    @property
    def secrets(self) -> SecretStore:
        """The project's secrets."""
        return SecretStore(self.state, self.clock)

    def store(self, loaded: ProjectConfig) -> StoredConfig:
        """Keep a validated configuration for the next apply; nothing is restarted.

        What is stored already stays as it was, its time too.
        """
        before = self.state.stored()
        digest = project_config.digest(loaded.memory)
        if before is not None and (before.digest, before.source) == (digest, str(loaded.path)):
            return before
        stored = StoredConfig(
            document=loaded.memory,
            digest=digest,
            at=self._now(),
            source=str(loaded.path),
        )
        with self.state.editing("stored", self.clock):
            self.state.store(stored)
        return stored

    def status(self) -> Status:
        """Say what is true now; changes nothing."""
        found = observe(self.state, prober=self.prober, clock=self.clock)
        if (edited := drift(self.stack, found.stored)) is not None:
            found = replace(found, warnings=[*found.warnings, edited])
        if found.record is None or not found.state.is_running:
            return found
        warnings = [*found.warnings, *self._about_keys(found.record)]
        return replace(found, warnings=warnings, jobs=self._jobs(found))

    def _jobs(self, found: Status) -> Mapping[str, int] | None:
        """Return how much background work there is, if the server tells."""
        if found.record is None or not found.body or not self.state.owner_token.exists():
            return None
        token = self.state.owner_token.read_text(encoding="utf-8").strip()
        return readiness.queue_counts(found.record, token)

    def apply(self, request: ApplyRequest, report: Report = _silent) -> Applied:
        """Deliver the stored configuration and run a server with it.

        Refuses before anything is touched: nothing stored, a provider without a key, another
        embedding space, a taken port, a downgrade. Raises `StartFailed` when the new server
        cannot run (see `Rollout.run`) and `NotReady` when waiting was in vain.
        """
        if self.state.stored() is None:
            raise NothingStored(
                "No memory configuration is stored for this project",
                hint="Store one first: agentengine memory configure",
            )
        with self.state.operation(self.clock):
            return self._apply(request, report)

    def up(self, loaded: ProjectConfig, request: ApplyRequest, report: Report = _silent) -> Applied:
        """Store a validated configuration and apply it; see `apply`."""
        self.store(loaded)
        return self.apply(request, report)

    def restart(self, report: Report = _silent) -> Applied:
        """Start the delivered configuration again, trying twice; returns once it is ready."""
        with self.state.operation(self.clock):
            delivery = self.state.delivery()
            if delivery is None:
                raise NothingDelivered(
                    "No memory server was started here yet.", hint="Start one: agentengine dev up"
                )
            sources = self._checked_sources(delivery)
            pinned = dev_settings(self.stack).memory_port
            self._check_port(pinned)
            warnings = self._store_change(self.status(), sources).admit()
            self._stop(report)
            outcome = self._attempt(delivery, self._port(pinned), sources, report)
            if not outcome.is_alive:
                report("it ended; trying once more")
                outcome = self._attempt(delivery, self._port(pinned), sources, report)
        if not outcome.is_alive:
            raise StartFailed(
                f"The memory server ends right after its start{ending(self._server, outcome)}",
                hint=f"{LOG_HINT}; then change the configuration and run: agentengine dev up",
            )
        return Applied(status=self._ready(outcome), reasons=["asked for"], warnings=warnings)

    def stop(self, report: Report = _silent) -> bool:
        """End the server; returns whether there was one. The data stays."""
        if not self.state.path.exists():
            return False
        with self.state.operation(self.clock):
            return self._stop(report)

    def clean(self, report: Report = _silent) -> Sequence[Path]:
        """Stop the server and delete the store, the logs and what was delivered; keep the port."""
        if not self.state.path.exists():
            return []
        with self.state.operation(self.clock):
            self._stop(report)
            if record := self.state.server():
                self.state.keep_port(record.port)
            gone = self.state.removable()
            for path in gone:
                with refusing_clearly(path):
                    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        return gone

    def key_sources(self) -> KeySources:
        """Return where keys and settings are looked for."""
        dotenv, bad = environment.read_lines(self.stack.dotenv)
        return KeySources(
            secrets=self.secrets.values(),
            dotenv=dotenv,
            dotenv_bad=bad,
            dotenv_path=self.stack.dotenv,
            shell=self.shell,
        )

    def _about_keys(self, record: ServerRecord) -> Sequence[str]:
        """Warn when the running server was given other keys; a broken `.env` is a warning too."""
        try:
            now = self._server.fingerprint(self.key_sources())
        except CliError as error:
            return (str(error),)
        if now == record.environment_digest:
            return ()
        return (
            "a secret, an .env value or agent.yaml changed since the server started; "
            "put it into effect: agentengine memory apply",
        )

    @property
    def _server(self) -> Server:
        return Server(
            state=self.state,
            command=self.command,
            clock=self.clock,
            prober=self.prober,
            agent=lambda sources: deliverable(self.stack, sources, self.state.delivered_agent()),
        )

    def _apply(self, request: ApplyRequest, report: Report) -> Applied:
        before, previous = self.status(), self.state.delivery()
        delivery = self._delivery(previous, request)
        sources = self._checked_sources(delivery)
        store = self._store_change(before, sources)
        changes = self._space_changes(delivery, store, request)
        notes = self._check_version(request, before)
        port = request.port or dev_settings(self.stack).memory_port
        self._check_port(port)
        reasons = plan.reasons_to_start(before, self._wanted(delivery, sources, port), request)
        if request.dry_run:
            said = store.admit(claims=False) if reasons else ()
            return Applied(before, (*reasons, *changes), notes=notes, warnings=said)
        if not reasons:
            status = self._awaited(before, request, report)
            led = self._lead(status, delivery, request, report)
            return Applied(self.status() if led else status, led, notes=notes)
        warnings = store.admit()
        rollout = Rollout(
            server=self._server,
            before=before,
            previous=previous,
            sources=sources,
            report=report,
        )
        outcome = rollout.run(
            delivery,
            port=lambda: self._port(port),
            seconds=request.wait_seconds if request.wait else GLANCE_SECONDS,
        )
        status = self._ready(outcome, request.wait_seconds) if request.wait else self.status()
        led = self._lead(status, delivery, request, report)
        status = self.status() if led else status
        return Applied(status, (*reasons, *led), notes=notes, warnings=warnings)

    def _lead(
        self, status: Status, delivery: Delivery, request: ApplyRequest, report: Report
    ) -> Sequence[str]:
        """Have the server make the vectors of the delivered model; return what that changed.

        An apply only gives up what is being made of another model.
        """
        target = plan.vectors_told(status.body, "").target
        wanted = plan.space_of(delivery.document, local_models=delivery.local_models)
        if status.record is None or (not request.reembed and target in {None, wanted}):
            return ()
        report("looking to the vectors")
        token = self.state.owner_token.read_text(encoding="utf-8").strip()
        return self.leader(status.record, token)

    def _delivery(self, previous: Delivery | None, request: ApplyRequest) -> Delivery:
        """Return the stored configuration as it is to be delivered, or as it was already."""
        stored = self.state.stored()
        assert stored is not None, "looked at before the lock was taken, and never deleted"
        new = Delivery(
            document=stored.document,
            digest=stored.digest,
            at=self._now(),
            local_models=request.local_models,
        )
        if previous is None or previous.at is None:
            return new
        return previous if replace(new, at=previous.at) == previous else new

    def _awaited(self, status: Status, request: ApplyRequest, report: Report) -> Status:
        """Return the state of a server that is left alone, ready if that was asked for."""
        if not request.wait or status.state is State.READY or status.record is None:
            return status
        seconds = request.wait_seconds
        outcome = self._server.watch(status.record, seconds=seconds, report=report)
        return self._ready(outcome, seconds)

    def _ready(self, outcome: Outcome, seconds: float = WAIT_SECONDS) -> Status:
        if outcome.is_ready:
            return self.status()
        if not outcome.is_alive:
            raise StartFailed(
                f"The memory server ended{ending(self._server, outcome)}.", hint=LOG_HINT
            )
        reason = describe(outcome.answer)
        if outcome.answer.is_hopeless:
            raise NotReady(
                f"The memory server cannot become ready by waiting: {reason}",
                hint="It keeps running. Mend the cause, then: agentengine memory apply --wait",
            )
        raise NotReady(
            f"The memory server is not ready after {seconds:g} seconds: {reason}",
            hint="It keeps running; see: agentengine memory status",
        )

    def _attempt(
        self, delivery: Delivery, port: int, sources: KeySources, report: Report
    ) -> Outcome:
        record = self._server.start(delivery, port=port, sources=sources)
        return self._server.watch(record, seconds=WAIT_SECONDS, report=report)

    def _stop(self, report: Report) -> bool:
        report("stopping the memory server")
        record = self.state.server()
        stopped = record is not None and self._server.stop(record)
        return self._server.end_strays() or stopped

    def _checked_sources(self, delivery: Delivery) -> KeySources:
        """Return the sources, having made sure that they hold every key that is needed."""
        sources = self.key_sources()
        required = not dev_settings(self.stack).local_mongodb
        environment.check_mongodb(sources, required=required)
        config = project_config.parse(delivery.document)
        if not delivery.local_models:
            environment.check_keys(config, sources)
        self._server.agent(sources)  # an agent.yaml that is not valid stops nothing that runs
        return sources

    def _store_change(self, before: Status, sources: KeySources) -> StoreChange:
        return StoreChange(
            look=self.look,
            before=before,
            given=self._server.given(sources),
            project=self.stack.project,
        )

    def _space_changes(
        self, delivery: Delivery, store: StoreChange, request: ApplyRequest
    ) -> Sequence[str]:
        """Return what becomes of the vectors; raise if that was not asked for."""
        previous = self.state.delivery()
        if previous is None:
            return ()
        space = plan.space_of(previous.document, local_models=previous.local_models)
        wanted = plan.space_of(delivery.document, local_models=delivery.local_models)
        if wanted == space and not (request.reembed or store.before.body):
            return ()  # not worth a look at what is stored
        vectors = store.vectors(space)
        if not request.reembed:
            plan.check_embedding_space(vectors, wanted)
        return plan.space_changes(vectors, wanted)

    def _check_version(self, request: ApplyRequest, before: Status) -> Sequence[str]:
        if not request.upgrade:
            return ()
        running, installed = before.body.get("version"), installed_version()
        plan.check_upgrade(running, installed, force=request.force)
        if running == installed:
            return (f"nothing to upgrade: the server runs {installed} already",)
        return ()

    def _wanted(self, delivery: Delivery, sources: KeySources, port: int | None) -> Wanted:
        return Wanted(
            digest=delivery.digest,
            local_models=delivery.local_models,
            environment_digest=self._server.fingerprint(sources),
            port=port,
            version=installed_version(),
        )

    def _check_port(self, pinned: int | None) -> None:
        """Raise `PortTaken` if somebody else has it; the server to be replaced may hold it."""
        record = self.state.server()
        ours = record is not None and record.port == pinned and record.process.is_running
        if not ours:
            addresses.check(pinned)

    def _port(self, pinned: int | None) -> int:
        record = self.state.server()
        recorded = record.port if record else self.state.kept_port()
        return addresses.choose(pinned=pinned, recorded=recorded)

    def _now(self) -> str:
        return self.clock.now().isoformat(timespec="seconds")


def installed_version() -> str:
    """Return the version a server started now would have."""
    return importlib.metadata.version("agentengine")
