"""memory jobs and memory retry: the background work, and trying again what failed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from agentengine_cli.commands.targeting import (
    BaseUrlOption,
    ContextOption,
    OrgIdOption,
    ProjectIdOption,
    server_of,
    target_options,
)
from agentengine_cli.context import current, run
from agentengine_cli.errors import WrongUsage
from agentengine_cli.left_out import left_out, told_left_out
from agentengine_cli.options import JsonOption, not_blank
from agentengine_cli.spending import told_spending, usage_of

if TYPE_CHECKING:
    from memory_server.client import MemoryServerClient

MANY_JOBS = 1000
"""As many as one list of jobs may hold."""
JOB_COLUMNS = tuple("id kind type state attempts user_id calls tokens left_out error_code".split())
STATES = ("queued", "running", "failed", "done")


def jobs(
    ctx: typer.Context,
    failed: Annotated[bool, typer.Option("--failed", help="Only those that failed.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=MANY_JOBS, help="How many, newest first.")] = 50,
    context_name: ContextOption = None,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the background work: what waits, runs, is done or failed.

    agentengine memory jobs --failed
    """
    context = current(ctx)
    server = server_of(ctx, target_options(context_name, base_url, org_id, project_id))

    found = server.ask(lambda client: client.jobs(state="failed" if failed else None, limit=limit))
    rows = [{**job, **usage_of(job), "left_out": left_out(job)} for job in found["jobs"]]
    context.output.table(rows, columns=JOB_COLUMNS, document=found, empty="No jobs")
    counts = dict(found["counts"])
    context.output.note(", ".join(f"{counts[state]} {state}" for state in STATES))
    if spent := told_spending(found.get("spending")):
        context.output.note(f"extraction model: {spent}")
    for line in told_left_out(found["jobs"]):
        context.output.note(line)
    if failed and found["jobs"]:
        context.output.hint(
            "agentengine memory jobs --failed --json shows the reasons and raw answers; "
            "agentengine memory retry --all-failed, once the reason is mended"
        )


def retry(
    ctx: typer.Context,
    job: Annotated[
        str | None, typer.Argument(metavar="JOB", help="A job's id.", callback=not_blank)
    ] = None,
    all_failed: Annotated[
        bool, typer.Option("--all-failed", help="Every job that failed.")
    ] = False,
    context_name: ContextOption = None,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Queue failed jobs again.

    agentengine memory retry --all-failed
    """
    context = current(ctx)
    if (job is None) == (not all_failed):
        raise WrongUsage(
            "Name one job, or say --all-failed", hint="agentengine memory jobs --failed"
        )
    server = server_of(ctx, target_options(context_name, base_url, org_id, project_id))

    async def work() -> Sequence[str]:
        async with server.client(server.administrator) as client:
            if job is not None:
                await client.retry_job(job)
                return [job]
            return await _retry_all(client)

    queued = run(work())
    context.output.record({"queued_again": len(queued), "jobs": queued})


async def _retry_all(client: "MemoryServerClient") -> Sequence[str]:
    found = await client.jobs(state="failed", limit=MANY_JOBS)
    ids = [job["id"] for job in found["jobs"]]
    await client.retry_failed_jobs()
    return ids
