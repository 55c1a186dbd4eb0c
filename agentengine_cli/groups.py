"""The table of contents: every command and group there is."""

import typer

from agentengine_cli.commands import (
    auth,
    completion,
    context,
    create,
    dev,
    eval,
    init,
    invoke,
    logs,
    mcp,
    memory,
    memory_data,
    project,
    reembed,
    review,
    secret,
    service_account,
    status,
    version,
)
from agentengine_cli.options import share_global_options

HELP_FLAGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def build(*, completing: bool = False) -> typer.Typer:
    """Return the whole application; `completing`: to answer a shell that wants completions."""
    app = typer.Typer(
        name="agentengine",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=completing,
        rich_markup_mode=None,
        context_settings=HELP_FLAGS,
    )
    app.callback()(_root)
    create.register(app)
    app.add_typer(dev.app, name="dev")
    app.add_typer(memory.app, name="memory")
    memory_data.register(memory.app)
    reembed.register(memory.app)
    review.register(memory.app)
    app.add_typer(secret.app, name="secret")
    invoke.register(app)
    mcp.register(app)
    status.register(app)
    app.command("logs")(logs.logs)
    app.add_typer(eval.app, name="eval")
    app.add_typer(service_account.app, name="service-account")
    app.add_typer(auth.app, name="auth")
    app.add_typer(context.app, name="context")
    init.register(app)
    app.add_typer(project.app, name="project")
    version.register(app)
    completion.register(app)
    share_global_options(app)
    return app


def _root(
    show_version: version.VersionOption = False,  # noqa: FBT002 - an option
) -> None:
    """Give an agent a memory that you run yourself.

    agentengine create --memory-only --name "My memory"
    """
