"""configure, apply and status of a server that runs elsewhere, over HTTP."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from agentengine_cli import config_file
from agentengine_cli.config_file import ConfigRefused
from agentengine_cli.connection import Server
from agentengine_cli.context import CliContext, run
from agentengine_cli.control.clock import Clock, SystemClock
from agentengine_cli.control.plan import ApplyRequest
from agentengine_cli.control.report import lines_of_parts, seconds_of
from agentengine_cli.errors import CliError
from agentengine_cli.progress import Status
from agentengine_cli.remote_readiness import UNKNOWN, own_project, readiness
from memory_server.errors import Forbidden, InvalidProjectConfig, MemoryServerError
from memory_server.project_config import Problem, ProjectConfig
from memory_server.project_config.problem import dotted

if TYPE_CHECKING:
    from memory_server.client import (
        Applied,
        ConfigDocument,
        ConfigStored,
        DeploymentClient,
        RuntimeDocument,
    )

Answer = TypeVar("Answer")

READY = "ready"
POLL_SECONDS = 1.0
SHORT_DIGEST = 12
NEXT_STEP = "Nothing changes yet. Put it into effect: agentengine memory apply"


class NotReady(CliError):
    """The server did not become ready in time."""


class NotOverHttp(CliError):
    """What was asked for is done where the server runs."""


class NotTheOperator(CliError):
    """The configuration belongs to the server, and who asks to one of its other projects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteConfig:
    """The configuration of one server; all its projects share it."""

    context: CliContext
    server: Server
    clock: Clock

    @classmethod
    def of(cls, context: CliContext, server: Server) -> "RemoteConfig":
        """Return a server's, by the machine's clock."""
        return cls(context=context, server=server, clock=SystemClock())

    def configure(self, path: Path, *, yes: bool) -> None:
        """Store a file's `memory:` mapping; shows what it changes, and asks."""
        output = self.context.output
        loaded = config_file.load(path)
        report = run(self._report())
        stored, running = report["stored"], report["running"]["memory"]
        differences = config_file.compared(
            stored["memory"] if stored else running, loaded, fixed=running
        )
        config_file.explain(output, loaded, differences)
        output.confirm(
            f"Store this configuration for the server at {self.server.url}? All its projects "
            "share it",
            yes=yes,
        )
        receipt = run(self._stored(loaded))
        warnings = receipt.get("warnings") or ()
        for warning in warnings:
            if warning not in config_file.explained(loaded):
                output.warning(warning)
        if output.as_json:
            output.document(
                {
                    "digest": receipt["digest"],
                    "at": receipt.get("stored_at"),
                    "pending": receipt["pending"],
                    "differences": differences,
                    "warnings": [*config_file.warnings_of(loaded), *warnings],
                }
            )
            return
        output.result(f"stored: {receipt['digest'][:SHORT_DIGEST]} from {loaded.path}")
        if receipt["pending"]:
            output.hint(NEXT_STEP + self._same_target)

    def apply(self, request: ApplyRequest) -> None:
        """Put the stored configuration into effect; the server stays up meanwhile."""
        check_possible(request, self.server)
        output = self.context.output
        with output.status("Memory: applying") as status:
            try:
                applied = run(self._applied(request))
            except TimeoutError as error:
                raise self._late(request.wait_seconds) from error
            wait = request.wait and not request.dry_run
            runtime = run(self._ready(request.wait_seconds, status) if wait else self.runtime())
        self._show_applied(applied, runtime, dry_run=request.dry_run)

    def reembed(self, request: ApplyRequest) -> Sequence[str]:
        """Apply the stored configuration, its embedding model too; return what that changes."""
        with self.context.output.status("Memory: applying"):
            try:
                return list(run(self._applied(request))["changes"])
            except TimeoutError as error:
                raise self._late(request.wait_seconds) from error

    def status(self) -> None:
        """Show how the server is; to those who do not administer it, what everybody may know."""
        self._show(run(self._seen()))

    def at_a_glance(self) -> None:
        """Show the same as `agentengine status` does of a local stack."""
        output, runtime = self.context.output, run(self._seen())
        if output.as_json:
            output.document({"stack": None, "memory": self.document(runtime)})
            return
        output.result(f"project: {self.server.project_id}")
        for line in self.lines(runtime):
            output.result(f"memory {line}")
        for warning in runtime.get("warnings") or ():
            output.warning(warning)

    def document(self, runtime: Mapping[str, Any]) -> dict[str, Any]:
        """Return the JSON form of `memory status`, as for a local stack where both have it."""
        providers = runtime.get("providers") or {}
        config = runtime.get("config")
        return {
            "state": runtime["state"],
            "blocked_on": list(runtime.get("blocked_on") or ()),
            "url": self.server.url,
            "pid": None,
            "project_id": self.server.project_id,
            "store": runtime.get("store"),
            "search": runtime.get("index"),
            "embedding": providers.get("embedding"),
            "extraction": providers.get("extraction"),
            "reembedding": runtime.get("reembedding"),
            "review": runtime.get("review"),
            "servers": runtime.get("servers"),
            "version": runtime.get("version"),
            "jobs": runtime.get("queue"),
            "config": config
            and {
                "stored": config.get("stored"),
                "applied": config.get("running"),
                "pending": bool(config.get("pending")),
                "applied_at": config.get("applied_at"),
            },
            "worker": runtime.get("worker"),
            "projects": runtime.get("projects"),
            "warnings": list(runtime.get("warnings") or ()),
        }

    def _show(self, runtime: Mapping[str, Any]) -> None:
        output = self.context.output
        if output.as_json:
            output.document(self.document(runtime))
            return
        for line in self.lines(runtime):
            output.result(line)
        for warning in runtime.get("warnings") or ():
            output.warning(warning)

    def lines(self, runtime: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines of `memory status`, the state first."""
        shown = self.document(runtime)
        yield f"state: {shown['state']}"
        for reason in shown["blocked_on"]:
            yield f"blocked on: {reason}"
        yield f"url: {shown['url']}"
        if shown["version"]:
            yield f"version: {shown['version']}"
        if shown["config"]:
            yield f"config: {_config(shown['config'])}"
        yield from lines_of_parts(shown, shown["worker"], shown["jobs"], options=self._same_target)

    def _show_applied(
        self, applied: "Applied", runtime: "RuntimeDocument", *, dry_run: bool
    ) -> None:
        output = self.context.output
        reasons, notes = list(applied["changes"]), list(applied.get("warnings") or ())
        if output.as_json:
            output.document(
                {
                    "dry_run": dry_run,
                    "changed": bool(reasons),
                    "reasons": reasons,
                    "notes": notes,
                    "status": self.document(runtime),
                }
            )
            return
        for note in notes:
            output.warning(note)
        if dry_run:
            would = f"would replace the services: {'; '.join(reasons)}"
            output.result(would if reasons else "would change nothing")
            output.result(f"version: {runtime.get('version') or '-'}")
            return
        if not reasons:
            output.result("nothing to apply: the configuration is applied already")
        for reason in reasons:
            output.result(f"applied: {reason}")
        self._show(runtime)

    def _late(self, seconds: float) -> NotReady:
        """Return what to raise when an apply did not end in time, with the reason last seen."""
        reasons: Sequence[str] = ()
        with contextlib.suppress(OSError, MemoryServerError):
            reasons = run(self.runtime()).get("blocked_on") or ()
        seen = "; ".join(reasons) or "the new services are still being prepared"
        return NotReady(
            f"The apply at {self.server.url} did not end within {seconds:g} seconds: {seen}",
            hint="It goes on there; see: agentengine memory status" + self._same_target,
        )

    async def _ready(self, seconds: float, status: Status) -> "RuntimeDocument":
        """Ask until it is ready; raise `NotReady` with the reason last seen."""
        deadline = self.clock.monotonic() + seconds
        while True:
            runtime = await self.runtime()
            if runtime["state"] == READY:
                return runtime
            reason = "; ".join(runtime.get("blocked_on") or ()) or runtime["state"]
            status.update(f"Memory: waiting, {reason}")
            if self.clock.monotonic() >= deadline:
                raise NotReady(
                    f"The memory server at {self.server.url} is not ready after {seconds:g} "
                    f"seconds: {reason}",
                    hint="It keeps running; see: agentengine memory status" + self._same_target,
                )
            await asyncio.sleep(POLL_SECONDS)

    async def _asked(self, question: Callable[["DeploymentClient"], Awaitable[Answer]]) -> Answer:
        """Ask the server; raise `NotTheOperator` if its answer is for others than who asks."""
        async with self.server.client(self.server.administrator) as client:
            try:
                return await question(client.deployment)
            except Forbidden as error:
                own = await own_project(client)
                if own in {self.server.project_id, UNKNOWN}:
                    raise
                raise NotTheOperator(
                    f"All projects of {self.server.url} share one configuration, which is for the "
                    f"owners of its project {own}; you are {self.server.administrator.speaker}",
                    hint="One of them makes you one: agentengine project member add USER --role "
                    f"PROJECT_OWNER --project-id {own}; or use the server's owner token, in "
                    "AGENTENGINE_OWNER_TOKEN",
                ) from error

    async def _report(self) -> "ConfigDocument":
        return await self._asked(lambda deployment: deployment.config())

    async def _stored(self, loaded: ProjectConfig) -> "ConfigStored":
        """Store it; what the server has against it is told by the places of the file."""
        try:
            return await self._asked(lambda deployment: deployment.put_config(loaded.memory))
        except InvalidProjectConfig as error:
            raise ConfigRefused(
                f"{self.server.url} does not take {loaded.path}; nothing was stored",
                hint="Correct the file and run this command again",
                problems=placed(error, loaded),
            ) from error

    async def _applied(self, request: ApplyRequest) -> "Applied":
        return await self._asked(
            lambda deployment: deployment.apply(
                dry_run=request.dry_run,
                force=request.force,
                local_models=request.local_models,
                reembed=request.reembed,
                seconds=request.wait_seconds,
            )
        )

    async def runtime(self) -> "RuntimeDocument":
        """Return how the server is; raises as `configure` does."""
        return await self._asked(lambda deployment: deployment.runtime())

    async def _seen(self) -> Mapping[str, Any]:
        try:
            return await self.runtime()
        except (NotTheOperator, Forbidden):
            async with self.server.client(self.server.administrator) as client:
                return await readiness(client)

    @property
    def _same_target(self) -> str:
        """What the next command needs to mean the same server."""
        return self.context.trail.options


def check_possible(request: ApplyRequest, server: Server) -> None:
    """Raise `NotOverHttp` for what only somebody on the server's machine can do."""
    if request.upgrade:
        raise NotOverHttp(
            f"The program at {server.url} cannot be upgraded over HTTP; nothing was changed",
            hint="Install the newer version where it runs, then there: agentengine memory apply "
            "--upgrade",
        )
    if request.port is not None:
        raise NotOverHttp(
            f"The port of {server.url} cannot be changed over HTTP; nothing was changed",
            hint="Leave --port out, or run it where the server runs",
        )


def placed(error: InvalidProjectConfig, loaded: ProjectConfig) -> Sequence[str]:
    """Return what a server has against a configuration, each with its line of the file."""
    entries = error.details.get("errors") or ()
    return [_placed(entry, loaded) for entry in entries] or [str(error)]


def _placed(entry: Mapping[str, Any], loaded: ProjectConfig) -> str:
    steps = tuple(step for step in entry.get("loc", ()) if step != "body")
    known = steps
    while known and known not in loaded.places:
        known = known[:-1]  # a missing key is reported where it is missed
    line, column = loaded.places[known] if known else (None, None)
    file = str(loaded.path) if known else None
    message = str(entry.get("msg"))
    return str(Problem(file=file, line=line, column=column, path=dotted(steps), message=message))


def _config(config: Mapping[str, Any]) -> str:
    """Say which configuration is stored and which one runs, with the times."""
    stored, running = config["stored"], config["applied"] or {}
    since = f"running {seconds_of(running.get('at')) or 'since an unknown time'}"
    if stored is None:
        return f"none stored over HTTP ({since}, {running.get('source', 'unknown')})"
    times = f"stored {seconds_of(stored.get('at')) or 'at an unknown time'}, {since}"
    if config["pending"]:
        return f"pending ({times}); agentengine memory apply"
    return f"applied ({times})"
