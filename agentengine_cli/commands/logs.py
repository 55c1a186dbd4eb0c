"""agentengine logs: what the memory server wrote."""

from enum import StrEnum
from typing import Annotated

import typer

from agentengine_cli.commands.log_options import (
    GrepOption,
    SinceOption,
    TailOption,
    UntilOption,
    documents,
    line_filter,
    show_log,
)
from agentengine_cli.commands.targeting import (
    BaseUrlOption,
    ContextOption,
    OrgIdOption,
    ProjectIdOption,
    targeted,
)
from agentengine_cli.connection import Server
from agentengine_cli.context import current
from agentengine_cli.control import log
from agentengine_cli.errors import CliError, WrongUsage
from agentengine_cli.options import JsonOption
from agentengine_cli.target import TargetOptions


class LogElsewhere(CliError):
    """The log is kept on another machine."""


class LogSource(StrEnum):
    """Whose log."""

    MEMORY = "memory"
    AGENT = "agent"
    """What an agent of the user's own prints, and what is told of its processes."""


def logs(
    ctx: typer.Context,
    source: Annotated[LogSource, typer.Option("--source", help="Whose log.")] = LogSource.MEMORY,
    follow: Annotated[bool, typer.Option("-f", "--follow", help="Go on with it.")] = False,
    since: SinceOption = None,
    until: UntilOption = None,
    tail: TailOption = 500,
    grep: GrepOption = None,
    context: ContextOption = None,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the last lines of the log of the memory server, or of the agent, oldest first.

    agentengine logs --tail 100 --grep ERROR
    """
    output = current(ctx).output
    if follow and (until or output.as_json):
        raise WrongUsage("--follow does not go together with --until or --json")
    options = TargetOptions(
        context=context, base_url=base_url, org_id=org_id, project_id=project_id
    )
    plane = targeted(ctx, options)
    if isinstance(plane, Server):
        raise LogElsewhere(
            f"The log of the server at {plane.url} is kept where it runs and not sent over HTTP",
            hint=f"How it is: agentengine memory status{options}; what failed: agentengine memory "
            f"jobs --failed{options}",
        )
    only_agent = source is LogSource.AGENT
    chosen = line_filter(plane, grep=grep, since=since, until=until, only_agent=only_agent)
    if output.as_json:
        output.document(documents(log.last_lines(plane.state.log, tail, chosen), source.value))
        return
    show_log(ctx, plane, chosen, tail=tail, follow=follow)
