"""The table of contents: every command and group there is."""

import typer

from agentengine_cli.options import share_global_options

HELP_FLAGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def build() -> typer.Typer:
    """Return the whole application."""
    app = typer.Typer(
        name="agentengine",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
        rich_markup_mode=None,
        context_settings=HELP_FLAGS,
    )
    app.callback()(_root)
    share_global_options(app)
    return app


def _root() -> None:
    """Give an agent a memory that you run yourself."""
