"""Where what is not remembered may be: waiting for a decision, or for its promotion."""

import contextlib

from agentengine_cli import memory_text
from agentengine_cli.connection import Server
from agentengine_cli.context import CliContext
from memory_server.errors import MemoryServerError

MOST = 200
"""As many proposals as one list may hold."""


def tell_where_else(context: CliContext, server: Server, user_id: str | None) -> None:
    """Say, where nothing is found, how many proposals wait, and what promotes the rest."""
    options = context.trail.options
    if many := _waiting(server, user_id):
        wait = "1 proposal waits" if many == "1" else f"{many} proposals wait"
        of_user = f" --user-id {user_id}" if user_id else ""
        context.output.hint(
            f"{wait} for a decision, which no search sees: "
            f"agentengine memory review{of_user}{options}"
        )
    context.output.hint(memory_text.FLUSH_HINT.format(options=options))


def _waiting(server: Server, user_id: str | None) -> str:
    """Return how many proposals wait; nothing where none does, or the caller may not know."""
    with contextlib.suppress(MemoryServerError):
        page = server.ask(
            lambda client: client.proposals.list(state="pending", user_id=user_id, limit=MOST)
        )
        found = len(page["proposals"])
        return f"more than {found}" if page["next"] else str(found or "")
    return ""
