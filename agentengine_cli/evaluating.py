"""A suite carried out: which stages, on which server, and what is told of it."""

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentengine_cli import config_file
from agentengine_cli.connection import Server
from agentengine_cli.context import CliContext, run
from agentengine_cli.control.clock import SystemClock
from agentengine_cli.errors import CliError, WrongUsage
from agentengine_cli.eval_directory import held
from agentengine_cli.eval_progress import Watching
from agentengine_cli.eval_server import OwnServer, memory_of
from evaluation.datasets.generator import generate
from evaluation.errors import InvalidSuite
from evaluation.ledger import NEW_SUFFIX
from evaluation.running import Evaluation, Reached, absolute
from evaluation.suite import Suite
from evaluation.suite_file import read_suite
from evaluation.workspace import SERVER, Workspace, kept_manifest

ON_SERVER = ("ingest", "search")
"""Stages that speak to a server; the others read records alone."""
CLIENT_SECONDS = 120.0
"""How long one answer of a server is waited for."""


class SuiteRefused(CliError):
    """The suite cannot be run as it is written."""


class OptionsRefused(WrongUsage):
    """The options make no suite that can be run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a command was told."""

    context: CliContext
    directory: Path
    suite: Path | None
    options: Mapping[str, Any]
    """The part of a suite that options say."""
    target: Server | None = None
    """A server that was named; None: one of the evaluation's own."""
    config: Path | None = None
    concurrency: int = 4
    redo: str | None = None
    clock: SystemClock = field(default_factory=SystemClock)

    @contextlib.contextmanager
    def opened(self) -> Iterator["Session"]:
        """Read the suite and hold the directory while the block runs.

        Raises `SuiteRefused`, `LockHeld` while another command works there, and `RecordsDamaged`.
        """
        suite = self._read()
        output = self.context.output
        with held(self.directory, clock=self.clock):
            evaluation = Evaluation(
                suite,
                Workspace(self.directory, told=output.note),
                Watching(output),
                concurrency=self.concurrency,
                environment=self.context.environ,
            )
            if self.redo is not None:
                gone = evaluation.redo(self.redo)
                output.note(f"{gone} records are made again, from the stage {self.redo} on")
            yield Session(order=self, evaluation=evaluation)

    def _read(self) -> Suite:
        options = self.options
        named = self.suite is not None or options["data"]["path"] is not None
        kept = None if named else kept_manifest(self.directory)
        if kept is not None:
            options = _laid_over(kept.suite, options)
        try:
            return absolute(read_suite(self.suite, options), self.context.start.absolute())
        except InvalidSuite as error:
            kind = OptionsRefused if self.suite is None else SuiteRefused
            raise kind(
                f"{self.suite or 'The options'}: nothing can be measured like this",
                problems=error.details["problems"],
                code=error.code,
                hint=_help(self.directory, is_empty=not named and kept is None),
            ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """An evaluation whose directory is held."""

    order: Order
    evaluation: Evaluation

    def carry_out(self, stages: Sequence[str]) -> Mapping[str, Any]:
        """Carry out stages in their order, and return what they did, in numbers."""
        on_server = [stage for stage in stages if stage in ON_SERVER]
        told = dict(self._on_server(on_server)) if on_server else {}
        for stage in stages:
            if stage not in ON_SERVER:
                told |= run(getattr(self.evaluation, stage)())
        return told

    def _on_server(self, stages: Sequence[str]) -> Mapping[str, Any]:
        self._check_data()
        told: dict[str, Any] = {}
        with self._server() as (server, is_own, is_new):

            async def work() -> None:
                token = server.administrator
                async with server.client(token, timeout=CLIENT_SECONDS) as client:
                    reached = Reached(
                        client=client,
                        place=None if is_own else f"{server.url} {server.project_id}",
                        is_fresh=is_own,
                        is_empty=is_own and is_new,
                    )
                    for stage in stages:
                        told.update(await getattr(self.evaluation, stage)(reached))

            run(work())
        return told

    def _check_data(self) -> None:
        """Read the data before a server is started for it."""
        assert self.evaluation.survey.count, "else it was refused"

    @contextlib.contextmanager
    def _server(self) -> Iterator[tuple[Server, bool, bool]]:
        order = self.order
        if order.target is not None:
            yield order.target, False, False
            return
        loaded = config_file.load(order.config) if order.config else None
        own = OwnServer(
            directory=order.directory / SERVER,
            memory=memory_of(loaded, extracts=self.evaluation.pipeline.extracts),
            config=order.config,
            shell=dict(order.context.environ),
        )
        with own.shown(order.context.output) as (server, is_new):
            yield server, True, is_new


def _help(directory: Path, *, is_empty: bool) -> str:
    if not is_empty:
        return "agentengine eval run --help"
    return (
        f"{directory} holds no evaluation to go on with: name one with --out, or data with --data"
    )


def _laid_over(under: Mapping[str, Any], over: Mapping[str, Any]) -> Mapping[str, Any]:
    given = {name: value for name, value in over.items() if value is not None}
    data = {name: value for name, value in given.pop("data", {}).items() if value is not None}
    return {**under, **given, "data": {**under["data"], **data}}


def write_generated(path: Path, *, variant: str, questions: int, seed: int) -> int:
    """Write synthetic data, all or nothing, and return its size; raises `UnknownChoice`."""
    items = generate(variant, questions, seed)
    if path.is_dir():
        raise WrongUsage(f"--out: {path} is a directory: name a file")
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + NEW_SUFFIX)
    try:
        with new.open("w", encoding="utf-8") as file:
            for item in items:
                file.write(json.dumps(item, ensure_ascii=False) + "\n")
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
    return path.stat().st_size
