"""Whether project-config.yaml still says what was stored from it."""

from agentengine_cli.control.status import ConfigMark
from agentengine_cli.stack import Stack
from memory_server import project_config
from memory_server.errors import InvalidProjectConfig


def drift(stack: Stack, stored: ConfigMark | None) -> str | None:
    """Return a warning if the file was edited and not configured since; nothing stored: none."""
    if stack.config is None or stored is None:
        return None
    try:
        loaded = project_config.load(stack.config)
    except InvalidProjectConfig:
        return (
            f"{stack.config.name} differs from the stored configuration, and is not valid: "
            "agentengine memory validate"
        )
    if project_config.digest(loaded.memory) == stored.digest:
        return None
    return (
        f"{stack.config.name} differs from the stored configuration: agentengine memory configure"
    )
