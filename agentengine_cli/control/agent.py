"""The agent that a server is told to run, as it is delivered: one file, readable by its owner."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentengine_cli import agent_file
from agentengine_cli.control import environment
from agentengine_cli.control.environment import KeySources
from agentengine_cli.stack import AGENT_NAME, Stack

VARIABLE = "AGENTENGINE_AGENT"
"""Names the delivered file to the server."""
_PYTHON = Path(".venv", "bin", "python")


def deliverable(
    stack: Stack, sources: KeySources, delivered: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """Return what the server is told of the stack's agent; None: it has none of its own.

    From outside of an agent's directory the agent that was `delivered` before is meant. It gets the
    project's secrets and the entries of `.env`, but for the address of the store. Its Python is
    that of a `.venv` beside it or beside the project, else the server's own. Raises
    `InvalidAgentFile`.
    """
    root = _root(stack, delivered)
    if root is None:
        return None
    agent = agent_file.load(root / AGENT_NAME)
    if agent.entrypoint is None:
        return None
    own = replace(stack, root=root).dotenv
    dotenv = sources.dotenv if own == sources.dotenv_path else environment.read_dotenv(own)
    return {
        "name": agent.name,
        "directory": str(root),
        "entrypoint": agent.entrypoint,
        "python": _python(root, stack.project),
        "memory": agent.remembers(dotenv),
        "environment": {
            name: value
            for name, value in {**dotenv, **sources.secrets}.items()
            if name not in environment.OF_THE_STORE
        },
    }


def _root(stack: Stack, delivered: Mapping[str, Any] | None) -> Path | None:
    """Return the directory of the agent's agent.yaml."""
    places = [stack.root, *([Path(str(delivered["directory"]))] if delivered else [])]
    return next((place for place in places if (place / AGENT_NAME).is_file()), None)


def _python(*places: Path) -> str | None:
    return next((str(place / _PYTHON) for place in places if (place / _PYTHON).exists()), None)
