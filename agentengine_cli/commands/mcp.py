"""mcp: the memory tools for a desktop client."""

from typing import TYPE_CHECKING, Annotated

import typer

from agentengine_cli import connection
from agentengine_cli.commands.targeting import (
    BaseUrlOption,
    ContextOption,
    OrgIdOption,
    ProjectIdOption,
    target_options,
)
from agentengine_cli.commands.version import installed
from agentengine_cli.context import current, run
from agentengine_cli.options import not_blank

if TYPE_CHECKING:
    from memory_server.client import MemoryServerClient

CALL_SECONDS = 65.0
"""A little more than a server gives a call."""


def register(root: typer.Typer) -> None:
    """Add the command."""
    root.command("mcp")(mcp)


def mcp(
    ctx: typer.Context,
    user_id: Annotated[
        str | None,
        typer.Option(
            "--user-id",
            metavar="ID",
            help="Whose memory it is, where a call does not say.",
            callback=not_blank,
        ),
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="The session, where a call does not say.",
            callback=not_blank,
        ),
    ] = None,
    base_url: BaseUrlOption = None,
    context_name: ContextOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
) -> None:
    """Serve the memory tools to an MCP client, over standard input and output.

    agentengine mcp --user-id ana
    """
    from agentengine_cli.mcp_bridge import Bridge  # noqa: PLC0415 - half a second to load

    context = current(ctx)
    options = target_options(context_name, base_url, org_id, project_id)

    def connect() -> "MemoryServerClient":
        server = connection.reach(context, options, command="mcp")
        return server.client(server.administrator, timeout=CALL_SECONDS)

    given = {"user_id": user_id, "session_id": session}
    defaults = {name: value for name, value in given.items() if value is not None}
    bridge = Bridge(
        connect=connect,
        defaults=defaults,
        version=installed() or "unknown",
        warn=context.output.warning,
    )
    run(bridge.run())
