"""The agent of the user's own, if one was delivered."""

import logging

from memory_server.ports.agent import Badges
from memory_server.providers.agents.pool import ProcessAgent
from memory_server.providers.agents.settings import read
from memory_server.settings import Settings


def build_agent(settings: Settings, *, badges: Badges) -> ProcessAgent | None:
    """Return it, without starting anything; raises `InvalidProjectConfig`."""
    if settings.agent_file is None:
        return None
    # What an agent prints is its own and kept, however little the server says itself.
    logging.getLogger("agent").setLevel(logging.INFO)
    return ProcessAgent(
        read(settings.agent_file),
        badges=badges,
        project_id=settings.project_id,
        org_id=settings.org_id,
        memory_url=settings.url,
        # Whoever waits half of the time for their turn has the other half for the answer.
        wait_seconds=settings.invoke_seconds / 2,
    )
