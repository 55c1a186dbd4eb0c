"""Which agent of the user's own is served, as it was delivered."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memory_server.errors import InvalidProjectConfig

LOAD_SECONDS = 60.0
"""How long the import of an agent's module may take."""
MOST_PROCESSES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """An agent of the user's own."""

    name: str
    directory: Path
    """Where agent.yaml lies; the process works there."""
    entrypoint: str
    """`package.module:callable`, importable from the directory."""
    python: str = sys.executable
    """The interpreter: the server's own, or that of the agent's environment."""
    remembers: bool = True
    """`features.memory`: whether turns are recorded, and memory can be reached from inside."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The project's secrets and the entries of `.env`. Never logged."""
    most_processes: int = MOST_PROCESSES
    load_seconds: float = LOAD_SECONDS


def read(path: Path) -> AgentSettings:
    """Read what the command line delivered; raises `InvalidProjectConfig`."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return AgentSettings(
            name=_text(document, "name"),
            directory=Path(_text(document, "directory")),
            entrypoint=_text(document, "entrypoint"),
            python=document.get("python") or sys.executable,
            remembers=bool(document.get("memory", True)),
            environment={str(k): str(v) for k, v in document.get("environment", {}).items()},
        )
    except (OSError, ValueError, TypeError, AttributeError) as error:
        # The content may hold keys, so only the kind of fault is told.
        raise InvalidProjectConfig(
            f"AGENTENGINE_AGENT names {path}, which cannot be read as an agent "
            f"({type(error).__name__}): run agentengine dev up again"
        ) from None


def _text(document: Any, key: str) -> str:
    value = document.get(key)
    if not isinstance(value, str) or not value:
        raise ValueError(key)
    return value
