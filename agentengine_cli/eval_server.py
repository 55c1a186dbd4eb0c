"""A server that lives as long as an evaluation, beside nobody's memory."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agentengine_cli.connection import Server
from agentengine_cli.control import addresses, environment
from agentengine_cli.control import server as control
from agentengine_cli.control.clock import SystemClock
from agentengine_cli.control.environment import OF_THE_STORE, PROVIDER_KEYS, KeySources
from agentengine_cli.control.readiness import probe
from agentengine_cli.control.rollout import StartFailed, ending
from agentengine_cli.control.secrets import SecretStore
from agentengine_cli.control.server import COMMAND, Outcome, Report
from agentengine_cli.control.state import Delivery, StateDirectory
from agentengine_cli.credentials import OwnerToken
from agentengine_cli.output import Output
from memory_server import project_config
from memory_server.project_config import ProjectConfig

START_SECONDS = 300.0
NAME = 12
"""Characters of a configuration's digest: each configuration has a memory of its own."""
NO_LIMIT = {"AGENTENGINE_RATE_LIMIT": "off"}
"""Nobody else is kept waiting."""
FOREVER = {"snapshot": {"ttl_days": 1_000_000}}
"""What is measured again next month has to be there still."""
BUILT_IN: Mapping[str, Any] = {
    "embedding": {"provider": "local"},
    "extraction_llm": {"provider": "local"},
    "background_extraction": FOREVER,
}
"""No key, no network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnServer:
    """The server of one evaluation's directory."""

    directory: Path
    """Where all of it lies; nothing is read or written elsewhere."""
    memory: Mapping[str, Any]
    """The `memory:` mapping that it runs with."""
    config: Path | None
    """The file that the mapping came from, if one was named."""
    shell: Mapping[str, str] = field(repr=False)
    clock: SystemClock = field(default_factory=SystemClock)

    @contextlib.contextmanager
    def running(self, report: Report) -> Iterator[tuple[Server, bool]]:
        """Run it, and yield it with whether its memory is new; it ends with the block.

        Raises `KeyMissing`, and `StartFailed` with the end of its log.
        """
        digest = project_config.digest(self.memory)
        home = self.directory / digest[:NAME]
        home.mkdir(parents=True, exist_ok=True)
        state = StateDirectory(home)
        server = control.Server(state=state, command=COMMAND, clock=self.clock, prober=probe)
        sources = self._sources()
        environment.check_keys(project_config.parse(self.memory), sources)
        with state.operation(self.clock):
            is_new = not any(state.data.iterdir())
            now = self.clock.now().isoformat(timespec="seconds")
            delivery = Delivery(document=self.memory, digest=digest, at=now, local_models=False)
            state.deliver(delivery)
            record = server.start(delivery, port=addresses.free_port(), sources=sources)
            try:
                outcome = server.watch(record, seconds=START_SECONDS, report=report)
                self._check(server, outcome)
                token = state.owner_token.read_text(encoding="utf-8").strip()
                credential = OwnerToken(value=token, source="of the evaluation's own server")
                yield (
                    Server(
                        url=record.url, project_id="local", credential=credential, is_local=True
                    ),
                    is_new,
                )
            finally:
                report("stopping the evaluation's server")
                server.stop(state.server() or record)

    @contextlib.contextmanager
    def shown(self, output: Output) -> Iterator[tuple[Server, bool]]:
        """Run it as `running` does, and tell how far its start is."""
        with output.status("server: starting") as status:
            stack = contextlib.ExitStack()
            reached = stack.enter_context(
                self.running(lambda news: status.update(f"server: {news}"))
            )
        with stack:
            yield reached

    def _check(self, server: control.Server, outcome: Outcome) -> None:
        if outcome.is_ready:
            return
        if not outcome.is_alive:
            raise StartFailed(f"The evaluation's server ended{ending(server, outcome)}.")
        raise StartFailed(
            f"The evaluation's server cannot get ready: {control.describe(outcome.answer)}",
            hint="Mend the configuration, or leave --config out",
        )

    def _sources(self) -> KeySources:
        """Return where keys are found: the environment, then what belongs to the configuration.

        Never where memory is: the evaluation's server has a store of its own.
        """
        given = {name: self.shell[name] for name in PROVIDER_KEYS if name in self.shell}
        beside = (self.config.parent if self.config else self.directory) / ".env"
        dotenv, bad = environment.read_lines(beside) if self.config else ({}, ())
        kept: Mapping[str, str] = {}
        if self.config is not None:
            kept = SecretStore(StateDirectory(self.config.parent), self.clock).values()
        secrets = {**kept, **given, **NO_LIMIT}
        found = KeySources(
            secrets=secrets, dotenv=dotenv, dotenv_bad=bad, dotenv_path=beside, shell=self.shell
        )
        return replace(found, secrets=_without_store(secrets), dotenv=_without_store(dotenv))


def memory_of(loaded: ProjectConfig | None, *, extracts: bool) -> Mapping[str, Any]:
    """Return what the server runs with: a file's mapping as it is, or the built-in models.

    Without a file nothing is extracted where nothing of it would be searched.
    """
    if loaded is not None:
        return loaded.memory
    return BUILT_IN if extracts else {**BUILT_IN, "extraction": {"enabled": []}}


def _without_store(values: Mapping[str, str]) -> Mapping[str, str]:
    return {name: value for name, value in values.items() if name not in OF_THE_STORE}
