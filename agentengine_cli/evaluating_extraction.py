"""Labelled conversations lived through on a server, and what is told of it."""

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import memory_server
from agentengine_cli import config_file
from agentengine_cli.connection import Server
from agentengine_cli.context import CliContext, run
from agentengine_cli.control.clock import SystemClock
from agentengine_cli.errors import WrongUsage
from agentengine_cli.eval_directory import held
from agentengine_cli.eval_progress import Watching
from agentengine_cli.eval_server import BUILT_IN, OwnServer
from evaluation.digests import digest_of_files
from evaluation.extraction.cases import CASES, HALVES, Labelled, read_cases
from evaluation.extraction.records import CaseRecord
from evaluation.extraction.report import Measured, measure
from evaluation.extraction.running import Measuring, configuration_of
from evaluation.extraction.thresholds import check
from evaluation.server import ServerFacts
from evaluation.workspace import SERVER
from memory_server.errors import InvalidRequest

BOTH = "both"
CLIENT_SECONDS = 120.0
"""How long one answer of a server is waited for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionOrder:
    """What `eval extraction` was told."""

    context: CliContext
    directory: Path
    cases: Path | None
    """None: the project's own."""
    half: str
    """One of the halves, or both; of cases that lie in neither all are meant."""
    only: Sequence[str] | None
    wanted: Mapping[str, float]
    shown: Collection[str]
    reveal: bool
    redo: bool
    concurrency: int
    model: Mapping[str, str] | None = None
    """Provider and model that extract on the evaluation's own server; None: the rules."""
    config: Path | None = None
    target: Server | None = None
    """A server that was named; None: one of the evaluation's own."""
    clock: SystemClock = field(default_factory=SystemClock)

    def carry_out(self) -> Measured:
        """Live through the cases that were not yet, and measure all of them.

        Raises `InvalidCases`, `WrongUsage`, and `LockHeld` while another command works there.
        """
        try:
            check(self.wanted)
        except InvalidRequest as error:
            raise WrongUsage(f"--fail-under: {error}") from error
        cases = self._chosen()
        with held(self.directory, clock=self.clock):
            server, records = self._lived(cases)
            return measure(
                cases,
                records,
                self.directory,
                server=server,
                wanted=self.wanted,
                shown=self.shown,
                reveal=self.reveal,
            )

    def _chosen(self) -> Sequence[Labelled]:
        root = self.cases or CASES
        if (root / self.half).is_dir():  # what is not measured need not be right
            root /= self.half
        wanted = HALVES if self.half == BOTH else (self.half,)
        of_half = [one for one in read_cases(root) if one.half in wanted or one.half not in HALVES]
        known = {one.case.id for one in of_half}
        if unknown := [name for name in self.only or () if name not in known]:
            raise WrongUsage(f"--only: there is no case {', '.join(unknown)} in what is measured")
        chosen = [one for one in of_half if not self.only or one.case.id in self.only]
        if not chosen:
            raise WrongUsage(f"--half: {root} has no case of the half {self.half}")
        return chosen

    def _lived(self, cases: Sequence[Labelled]) -> tuple[Mapping[str, Any], Sequence[CaseRecord]]:
        measuring = Measuring(
            cases=cases,
            directory=self.directory,
            watcher=Watching(self.context.output),
            concurrency=self.concurrency,
        )
        with self._server() as (server, place):

            async def work() -> tuple[Mapping[str, Any], Sequence[CaseRecord]]:
                async with server.client(server.administrator, timeout=CLIENT_SECONDS) as client:
                    facts = await ServerFacts.of(client, place=place)
                    configuration = configuration_of(facts.document, _program(place))
                    records = await measuring.run(
                        client, configuration, anew=self.redo, is_own=place is None
                    )
                    return facts.document, records

            return run(work())

    @contextlib.contextmanager
    def _server(self) -> Iterator[tuple[Server, str | None]]:
        """Yield the server, with its address and project where it is not the evaluation's own."""
        if self.target is not None:
            yield self.target, f"{self.target.url} {self.target.project_id}"
            return
        own = OwnServer(
            directory=self.directory / SERVER,
            memory=self._memory(),
            config=self.config,
            shell=dict(self.context.environ),
        )
        with own.shown(self.context.output) as (server, _):
            yield server, None

    def _memory(self) -> Mapping[str, Any]:
        memory = config_file.load(self.config).memory if self.config else BUILT_IN
        return memory if self.model is None else {**memory, "extraction_llm": self.model}


def _program(place: str | None) -> str | None:
    """Return a digest of the server's code, which decides what it extracts, where it is ours."""
    return digest_of_files(Path(memory_server.__file__).parent) if place is None else None
