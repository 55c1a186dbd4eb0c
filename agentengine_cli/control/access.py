"""What another command needs to talk to the local stack's server."""

from dataclasses import dataclass, field
from pathlib import Path

from agentengine_cli import stack as stacks
from agentengine_cli.control.state import StateDirectory
from agentengine_cli.errors import ServerNotRunning

PROJECT_ID = "local"


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServer:
    """The running server of a stack."""

    url: str
    project_id: str
    owner_token: str = field(repr=False)


def local_server(start: Path) -> LocalServer:
    """Return the server of the stack around `start`.

    Raises `stack.NoProjectConfig` without a stack and `ServerNotRunning` when its process is not
    alive; whether it answers is for the caller to see.
    """
    state = StateDirectory(stacks.find_existing(start).project)
    record = state.server()
    if record is None or not record.process.is_running:
        raise ServerNotRunning(
            f"The memory server of {state.project} is not running",
            hint="Start it: agentengine dev up",
        )
    token = state.owner_token.read_text(encoding="utf-8").strip()
    return LocalServer(url=record.url, project_id=PROJECT_ID, owner_token=token)
