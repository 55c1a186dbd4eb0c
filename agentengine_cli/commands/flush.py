"""memory flush: promote what waits, and see its work to the end."""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentengine_cli.commands.jobs import MANY_JOBS
from agentengine_cli.commands.targeting import (
    BaseUrlOption,
    ContextOption,
    OrgIdOption,
    ProjectIdOption,
    server_of,
    target_options,
)
from agentengine_cli.context import current, run
from agentengine_cli.control.clock import Clock, SystemClock
from agentengine_cli.control.report import seconds_of
from agentengine_cli.durations import parse_seconds
from agentengine_cli.errors import CliError, JobsWait, PartlyFailed
from agentengine_cli.held_jobs import BUDGET_SPENT, Held, held_jobs
from agentengine_cli.options import JsonOption, not_blank
from agentengine_cli.output import Output
from agentengine_cli.progress import Status

if TYPE_CHECKING:
    from memory_server.client import Flushed, JobDocument, JobList, MemoryServerClient

POLL_SECONDS = 0.5
ENDED = ("done", "failed")
AGAIN = (
    "The server goes on, and flushing again is harmless; see agentengine memory jobs, and "
    "agentengine memory status for a model that is left alone"
)


def flush(
    ctx: typer.Context,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Only this session.", callback=not_blank)
    ] = None,
    user_id: Annotated[
        str | None,
        typer.Option("--user-id", metavar="ID", help="Only this user.", callback=not_blank),
    ] = None,
    wait: Annotated[bool, typer.Option(help="Wait until the work is done.")] = True,
    timeout: Annotated[str, typer.Option(metavar="SPAN", help="How long to wait.")] = "10m",
    context_name: ContextOption = None,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Turn recorded turns into memories now, instead of when enough are there.

    agentengine memory flush --user-id ana

    Ends with 3 where jobs wait for longer than it does: for a budget that is spent, or a model that
    is left alone. They go on by themselves.
    """
    context = current(ctx)
    seconds = parse_seconds(timeout, option="--timeout")
    server = server_of(ctx, target_options(context_name, base_url, org_id, project_id))

    async def work() -> tuple[dict[str, Any], Sequence[Held]]:
        async with server.client(server.administrator) as client:
            flushing = _Flush(
                client=client,
                output=context.output,
                session=session,
                user_id=user_id,
                seconds=seconds,
            )
            return await flushing.run(wait=wait)

    report, waiting = run(work())
    if as_json:
        context.output.document(report)
    else:
        context.output.record(_told(report))
    _raise_for(report.get("failed") or (), waiting)


@dataclass(frozen=True, kw_only=True)
class _Flush:
    """One promotion and the jobs that it queues; other users' background work is not its own."""

    client: "MemoryServerClient"
    output: Output
    session: str | None
    user_id: str | None
    seconds: float
    """For all of it."""
    began: float = field(default_factory=time.monotonic)
    told: set[str] = field(default_factory=set)
    """What was said of jobs that failed and are tried again, or wait."""
    clock: Clock = field(default_factory=SystemClock)

    async def run(self, *, wait: bool) -> tuple[dict[str, Any], Sequence[Held]]:
        """Promote, wait if asked to, and return what came of it, and what holds up the rest."""
        with self.output.status("Promoting") as status:
            before = {job["id"] for job in await self._visible() if job["state"] in ENDED}
            flushed = await self._promoted(status)
            for warning in flushed.get("warnings") or ():
                self.output.warning(warning)
            report: dict[str, Any] = {"snapshots": flushed["snapshots"], "jobs": flushed["jobs"]}
            if not wait:
                return report, ()
            own = {job["id"] for job in await self._visible()} - before
            waiting = await self._done(own, flushed["jobs"], status)
        ended = [job for job in await self._visible() if job["id"] in own]
        if flushed["jobs"] > len(ended):
            self.output.warning(
                f"the decisions are those of {len(ended)} of {flushed['jobs']} jobs"
            )
        report |= {
            "decisions": _decisions(ended),
            "proposed": _proposed(ended),
            "waiting": [held.document() for held in waiting],
            "failed": _failures(ended),
        }
        return report, waiting

    async def _promoted(self, status: Status) -> "Flushed":
        """Let the server promote in its own time, within ours; show how far it is."""
        promotion = asyncio.ensure_future(
            self.client.flush(
                session_id=self.session, user_id=self.user_id, seconds=max(self._left, 0.001)
            )
        )
        try:
            while not (await asyncio.wait({promotion}, timeout=POLL_SECONDS))[0]:
                await self._show_progress(status)
            return await promotion
        except TimeoutError as error:
            raise await self._late("the server is still promoting") from error
        finally:
            promotion.cancel()

    async def _show_progress(self, status: Status) -> None:
        with contextlib.suppress(OSError):  # a server too busy to tell is still promoting
            counts = (await self.client.jobs(limit=1))["counts"]
            spent = time.monotonic() - self.began
            status.update(f"Promoting for {spent:.0f} s, {counts['queued']} jobs queued so far")

    async def _done(self, own: set[str], expected: int, status: Status) -> Sequence[Held]:
        """Wait until none of our own jobs is queued or running, as far as they can be told.

        Returns what holds up those that are queued, where none is tried within our time.
        """
        while True:
            queued = await self.client.jobs(state="queued", limit=MANY_JOBS)
            running = await self.client.jobs(state="running", limit=MANY_JOBS)
            counts = queued["counts"]
            waiting, working = _among(own, queued), _among(own, running)
            if len(own) < expected or counts["queued"] > MANY_JOBS:  # a list does not hold them
                waiting, working = counts["queued"], counts["running"]
            if not waiting + working:
                return ()
            held, free = await self._held(queued, own)
            self._tell_troubles(queued, own)
            if held and not working + free and self._is_after(held[0].until):
                return held
            said = f"{waiting} jobs waiting, {working} running"
            status.update("; ".join([said, *_troubles(queued, own)[:1]]))
            if self._left <= 0:
                raise await self._late(said)
            await asyncio.sleep(POLL_SECONDS)

    async def _held(self, queued: "JobList", own: set[str]) -> tuple[Sequence[Held], int]:
        """Return what holds up our queued jobs, the soonest first, and how many nothing does."""
        ours = [job for job in queued["jobs"] if job["id"] in own]
        if not ours:
            return (), 0
        ready = await self.client.ready()
        return held_jobs(
            ours,
            spending=queued.get("spending") or {},
            circuit=(ready.get("extraction") or {}).get("circuit") or {},
            now=self.clock.now(),
        )

    def _is_after(self, moment: datetime) -> bool:
        """Whether a moment comes after all the time that we have."""
        return (moment - self.clock.now()).total_seconds() > self._left

    def _tell_troubles(self, queued: "JobList", own: set[str]) -> None:
        """Say which of our own jobs failed and why, or wait for what, once for each time."""
        for job in queued["jobs"]:
            if job["id"] in own and job["error"]:
                said = _trouble(job)
                if said not in self.told:
                    self.told.add(said)
                    self.output.note(said)

    async def _visible(self) -> "Sequence[JobDocument]":
        """Return the newest jobs of those the flush can be about."""
        found = (await self.client.jobs(limit=MANY_JOBS))["jobs"]
        return [job for job in found if self._is_meant(job)]

    def _is_meant(self, job: "JobDocument") -> bool:
        wanted = ((self.user_id, job["user_id"]), (self.session, job.get("session_id")))
        return job["kind"] == "extract" and all(ours in {None, theirs} for ours, theirs in wanted)

    async def _late(self, said: str) -> CliError:
        troubles: list[str] = []
        with contextlib.suppress(OSError):
            troubles = _troubles(await self.client.jobs(state="queued", limit=MANY_JOBS), None)
        return CliError(
            f"Not done after {self.seconds:g} s: {said}",
            problems=troubles[:5],
            hint=AGAIN,
            code="TIMEOUT",
        )

    @property
    def _left(self) -> float:
        return self.began + self.seconds - time.monotonic()


def _raise_for(failed: Sequence[dict[str, Any]], waiting: Sequence[Held]) -> None:
    """End with what failed, or else with what waits; what waits is told in either case."""
    told = [held.told() for held in waiting]
    if failed:
        reasons = [f"{job['id']}: {job['error_code']}: {job['error']}" for job in failed]
        raise PartlyFailed(
            f"{_counted(len(failed), 'job')} failed",
            problems=[*reasons, *told],
            hint="agentengine memory retry --all-failed",
        )
    if waiting:
        total = sum(held.jobs for held in waiting)
        raise JobsWait(f"{_counted(total, 'job')} still to be done", problems=told, hint=AGAIN)


def _told(report: dict[str, Any]) -> dict[str, Any]:
    """Return the report in words."""
    told = {
        "promoted": _counted(report["snapshots"], "snapshot"),
        "queued": _counted(report["jobs"], "job"),
    }
    if "decisions" in report:
        made = (f"{count} {action}" for action, count in report["decisions"].items())
        told["memories"] = ", ".join(made)
    if report.get("proposed"):
        told["waiting"] = f"{_counted(report['proposed'], 'proposal')}; agentengine memory review"
    return told


def _counted(count: int, name: str) -> str:
    return f"{count} {name}{'s' * (count != 1)}"


def _among(own: set[str], found: "JobList") -> int:
    return sum(job["id"] in own for job in found["jobs"])


def _troubles(found: "JobList", own: set[str] | None) -> list[str]:
    """Return why jobs that will be tried again did not succeed, each reason once."""
    mine = (job for job in found["jobs"] if own is None or job["id"] in own)
    return list(
        dict.fromkeys(f"{job['error_code']}: {job['error']}" for job in mine if job["error"])
    )


def _trouble(job: "JobDocument") -> str:
    name = f"job {job['id']}{_of_type(job)}"
    if job["error_code"] == BUDGET_SPENT:
        return f"{name} waits: {job['error']}"
    return (
        f"{name} failed ({job['error_code']}: {job['error']}) "
        f"and is tried again at {seconds_of(job['due_at'])}; tries: {job['attempts']}"
    )


def _of_type(job: "JobDocument") -> str:
    return f" ({job.get('type')})" if job.get("type") else ""


def _proposed(jobs: "Sequence[JobDocument]") -> int:
    """Count the candidates of the jobs that wait for somebody to decide on them."""
    return sum((job.get("result") or {}).get("proposed", 0) for job in jobs)


def _decisions(jobs: "Sequence[JobDocument]") -> dict[str, int]:
    """Count what became of the candidates the jobs extracted."""
    counts: Counter[str] = Counter(ADD=0, UPDATE=0, REINFORCE=0)
    for job in jobs:
        counts.update(
            decision["action"] for decision in (job.get("result") or {}).get("decisions", ())
        )
    return dict(counts)


def _failures(jobs: "Sequence[JobDocument]") -> list[dict[str, Any]]:
    names = ("id", "type", "user_id", "session_id", "error_code", "error")
    return [{name: job.get(name) for name in names} for job in jobs if job["state"] == "failed"]
