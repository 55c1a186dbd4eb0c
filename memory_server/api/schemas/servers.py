"""The servers of a store on the wire."""

from memory_server.api.schemas.common import Answer
from memory_server.domain.server import Server


class ServerDocument(Answer):
    """A server that is at work on the store."""

    name: str
    """Host and process id."""
    role: str
    """`all`, `api` or `worker`."""
    state: str
    """`serving`, or `stopping` once it was told to stop."""
    version: str
    config_digest: str
    """Of the configuration that its services run."""
    started_at: str
    seen_at: str
    """Its last heartbeat."""
    problem: str | None
    """Why it does not run the configuration that was applied."""

    @classmethod
    def of(cls, server: Server) -> "ServerDocument":
        """Return it as it travels."""
        return cls(
            name=server.name,
            role=server.role.value,
            state="stopping" if server.is_stopping else "serving",
            version=server.version,
            config_digest=server.config_digest,
            started_at=server.started_at.isoformat(),
            seen_at=server.seen_at.isoformat(),
            problem=server.problem,
        )
