"""Health and readiness on the wire."""

from typing import Any

from memory_server.api.schemas.common import Answer


class Health(Answer):
    """That the process serves."""

    status: str = "ok"
    component: str = "memory-server"
    version: str


class ReadinessDocument(Answer):
    """Whether the server can do its work, and if not, what it waits for."""

    status: str
    """`ready`, `starting` or `blocked`."""
    blocked_on: list[str]
    version: str
    instance_id: str | None
    pid: int
    project_id: str
    config_digest: str | None
    local_models: bool
    store: dict[str, Any]
    search: dict[str, Any]
    embedding: dict[str, Any]
    extraction: dict[str, Any]
    background: dict[str, Any]
    """`state` is `starting`, `running` or `stopped`; `problem` says why it stopped."""
    agent: dict[str, Any]
    """`name`, and `status`: `starting`, `ready` or `failed`; `problem` says why. Memory is ready
    whatever the agent is."""
