"""Starts, watches and stops the one server process of a project."""

import json
import math
import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agentengine_cli.control import addresses, agent, environment, log
from agentengine_cli.control.clock import Clock
from agentengine_cli.control.environment import KeySources
from agentengine_cli.control.process import INSTANCE_VARIABLE, ManagedProcess, find_launched
from agentengine_cli.control.readiness import Answer, Prober, Voice, store
from agentengine_cli.control.state import Delivery, ServerRecord, StateDirectory
from agentengine_cli.errors import CliError
from memory_server import project_config

COMMAND = (sys.executable, "-P", "-m", "memory_server")
"""-P: a directory of the user's must not be able to replace a module of ours."""
DATA_VARIABLE = "AGENTENGINE_DATA_DIR"
STOP_SECONDS = 30.0
"""A server takes up to 20 seconds to finish the work it has begun."""
KILL_SECONDS = 5.0
PORT_TAKEN = 98
"""The exit code of a server whose port another program took between our look and its start."""
FIRST_POLL_SECONDS = 0.1
SLOWEST_POLL_SECONDS = 1.0

Report = Callable[[str], None]
"""Told what is being waited for, whenever that changes."""
AgentOf = Callable[[KeySources], Mapping[str, Any] | None]
"""Returns what the server is told of the agent of the user's own; see `agent.deliverable`."""


class StopFailed(CliError):
    """The server does not end."""


def _no_agent(_: KeySources) -> None:
    """Be the agent of a server that has none of the user's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a start went by the end of the time given."""

    record: ServerRecord
    is_alive: bool
    answer: Answer
    exit_code: int | None = None

    @property
    def is_ready(self) -> bool:
        """Whether it takes work."""
        return self.is_alive and self.answer.is_ready

    @property
    def lost_its_port(self) -> bool:
        """Whether it ended because another program was quicker."""
        return self.exit_code == PORT_TAKEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """The server process of one project; every method expects the operation lock to be held."""

    state: StateDirectory
    command: Sequence[str]
    clock: Clock
    prober: Prober
    agent: AgentOf = _no_agent

    def start(self, delivery: Delivery, *, port: int, sources: KeySources) -> ServerRecord:
        """Launch it and write down that we did, before anything is waited for."""
        self.end_strays()
        self.state.ensure_owner_token()
        log.rotate(self.state.log)
        before = self.state.server()
        instance_id, log_offset = secrets.token_hex(8), log.size(self.state.log)
        process = ManagedProcess.launch(
            [*self.command, "--host", addresses.HOST, "--port", str(port)],
            environment=self._environment(delivery, sources) | {INSTANCE_VARIABLE: instance_id},
            directory=self.state.path,
            log=self.state.log,
        )
        record = ServerRecord(
            pid=process.pid,
            process_started_at=process.started_at,
            url=f"http://{addresses.HOST}:{port}",
            port=port,
            instance_id=instance_id,
            config_digest=delivery.digest,
            started_at=self.clock.now().isoformat(),
            local_models=delivery.local_models,
            environment_digest=self.fingerprint(sources),
            has_agent=self.state.delivered_agent() is not None,
            log_offset=log_offset,
            store=before.store if before else None,
        )
        try:
            self.state.record_server(record)
        except BaseException:
            process.kill()  # what is not written down could never be stopped
            raise
        return record

    def watch(
        self,
        record: ServerRecord,
        *,
        seconds: float,
        report: Report,
        blocked_seconds: float = math.inf,
    ) -> Outcome:
        """Wait until it is ready, has ended, or the time is over.

        A cause that waiting cannot change is not waited out. `blocked_seconds`: how long
        one and the same blocking reason is waited out.
        """
        now = self.clock.monotonic
        deadline, pause, said, said_at = now() + seconds, FIRST_POLL_SECONDS, "", now()
        while record.process.is_running:
            answer = self.prober(record)
            if (saying := describe(answer)) != said:
                said, said_at = saying, now()
                report(saying)
            is_stuck = answer.status == "blocked" and now() - said_at >= blocked_seconds
            if answer.is_ready and record.ready_at is None:
                ready_at = self.clock.now().isoformat()
                record = replace(record, ready_at=ready_at, store=store(answer.body))
                self.state.record_server(record)
            if answer.is_ready or answer.is_hopeless or is_stuck or now() >= deadline:
                return Outcome(record=record, is_alive=True, answer=answer)
            self.clock.sleep(pause)
            pause = min(pause * 1.5, SLOWEST_POLL_SECONDS)
        return self._ended(record)

    def stop(self, record: ServerRecord) -> bool:
        """End it: asked first, then forced. Returns whether there was anything to end."""
        process = record.process
        if not process.is_running:
            return False
        try:
            # First written down, so that an interrupted stop does not look like a crash.
            self.state.record_server(replace(record, stopped_at=self.clock.now().isoformat()))
        finally:
            self._end(process)  # on a full disk too
        return True

    def end_strays(self) -> bool:
        """End servers on this store that no record knows: whoever started them was killed first.

        Returns whether there were any.
        """
        strays = find_launched(self.command, DATA_VARIABLE, str(self.state.data))
        for process in strays:
            self._end(process)
        return bool(strays)

    def _end(self, process: ManagedProcess) -> None:
        process.terminate()
        if process.wait(clock=self.clock, timeout_seconds=STOP_SECONDS):
            return
        process.kill()
        if not process.wait(clock=self.clock, timeout_seconds=KILL_SECONDS):
            raise StopFailed(f"Process {process.pid} does not end, not even when killed")

    def _ended(self, record: ServerRecord) -> Outcome:
        exit_code = record.process.poll()
        self.state.record_end(record, at=self.clock.now(), exit_code=exit_code)
        silent = Answer(voice=Voice.SILENT)
        return Outcome(record=record, is_alive=False, answer=silent, exit_code=exit_code)

    def fingerprint(self, sources: KeySources) -> str:
        """Return a digest of the keys and settings a server started now would be given."""
        token = self.state.owner_token.read_text() if self.state.owner_token.exists() else ""
        values = environment.provided(sources)
        if (told := self.agent(sources)) is not None:
            values = values | {"agent": json.dumps(told, sort_keys=True)}
        return environment.fingerprint(values, key=token)

    def given(self, sources: KeySources) -> dict[str, str]:
        """Return the part of its environment that is the same whatever is delivered."""
        whose = {"ORG_ID": "local", "PROJECT_ID": "local", DATA_VARIABLE: str(self.state.data)}
        return environment.machine(sources.shell) | environment.provided(sources) | whose

    def _environment(self, delivery: Delivery, sources: KeySources) -> dict[str, str]:
        config = project_config.parse(delivery.document)
        told = self.agent(sources)
        self.state.deliver_agent(told)
        return (
            self.given(sources)
            | {
                "AGENTENGINE_MEMORY_CONFIG": str(self.state.delivered),
                "AGENTENGINE_CONFIG_DIGEST": delivery.digest,
                "AGENTENGINE_OWNER_TOKEN_FILE": str(self.state.owner_token),
                "MONGOMEM_ENABLED_EXTRACTIONS": ",".join(config.enabled),
                "PYTHONUNBUFFERED": "1",
            }
            | ({"AGENTENGINE_LOCAL_MODELS": "1"} if delivery.local_models else {})
            | ({} if told is None else {agent.VARIABLE: str(self.state.agent)})
        )


def describe(answer: Answer) -> str:
    """Say what a server that is not ready waits for."""
    reasons = ", ".join(answer.blocked_on)
    return f"{answer.status}: {reasons}" if reasons else answer.status
