"""Health and readiness on the wire."""

from typing import Any

from memory_server.api.places import placeless
from memory_server.api.schemas.common import Answer
from memory_server.api.schemas.servers import ServerDocument


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
    pid: int | None
    """Null to callers from elsewhere without the owner token, who are told no paths and no sizes
    of the store either."""
    project_id: str
    config_digest: str | None
    role: str
    """`all`, `api` or `worker`."""
    local_models: bool
    store: dict[str, Any]
    search: dict[str, Any]
    embedding: dict[str, Any]
    extraction: dict[str, Any]
    """Like `embedding`: `state` is `starting`, `ok` or `failing`, and `problem` says why. `circuit`
    is there while a provider that kept failing is left alone: `since`, `next_probe`, `because`,
    `to_do`. `spending` tells whoever the process id is told to what the server's own project took
    of the model: `this_hour` and `today`, and its `budget`, if there is one."""
    background: dict[str, Any]
    """`state` is `starting`, `running`, `elsewhere` (with the role `api`) or `stopped`; `problem`
    says why it stopped."""
    reembedding: dict[str, Any]
    """Empty where all vectors are of the configured model. Else `state` is `running`, `needed` or
    `removing` (those of the former model); `from`, `to`, `done` and `total` say how far it is,
    `problem` what it waits for, and `meaning` why searches go by words alone until it ends."""
    review: dict[str, Any]
    """`approval`, `automatic` or `manual`, and how many proposals are `pending` on the server."""
    agent: dict[str, Any]
    """`name`, and `status`: `starting`, `ready` or `failed`; `problem` says why. Memory is ready
    whatever the agent is."""
    servers: list[ServerDocument]
    """Those at work on the store, as of the last heartbeat; told to whom the process id is."""
    warnings: list[str]
    """What is to be said of the servers together: mixed configurations, or no worker alive; and
    what background work waits for: a spent budget, a provider that asks for fewer calls."""

    def for_strangers(self) -> "ReadinessDocument":
        """Return it without what only concerns whoever runs the machine."""
        hidden: dict[str, Any] = {"pid": None, "review": {}, "servers": [], "warnings": []}
        extraction = {name: part for name, part in self.extraction.items() if name != "spending"}
        return ReadinessDocument.model_validate(
            placeless(self.model_dump() | hidden | {"extraction": extraction})
        )
