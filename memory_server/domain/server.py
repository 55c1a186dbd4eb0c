"""The servers that are at work on one store, as they report themselves."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory_server.settings import ServerRole

HEARTBEAT = timedelta(seconds=5)
ALIVE = timedelta(seconds=20)
"""How long after its last heartbeat a server counts as alive."""
KEPT = timedelta(hours=1)
"""How long after its last heartbeat a server that did not take its leave is listed at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """One server process."""

    id: str
    host: str
    pid: int
    role: ServerRole
    version: str
    config_digest: str
    """Of the configuration that its services run."""
    owner_fingerprint: str
    """A slow digest of its owner token: tells whether two servers have the same one."""
    started_at: datetime
    seen_at: datetime
    is_stopping: bool = False
    """Whether it was told to stop, and only ends what it has begun."""
    problem: str | None = None
    """Why it does not run the configuration that was applied."""

    @property
    def name(self) -> str:
        """What people know it by."""
        return f"{self.host}:{self.pid}"

    @property
    def does_background_work(self) -> bool:
        """Whether it promotes and extracts."""
        return self.role is not ServerRole.API and not self.is_stopping


def told(servers: Sequence[Server]) -> Iterator[str]:
    """Yield what whoever runs the servers should know of them as a whole."""
    digests = {server.config_digest for server in servers if not server.is_stopping}
    if len(digests) > 1:
        which = "; ".join(
            f"{digest[:12]} on {', '.join(_with(servers, digest))}" for digest in sorted(digests)
        )
        yield f"the servers alive run {len(digests)} configurations: {which}"
    for server in servers:
        if server.problem is not None:
            yield f"server {server.name}: {server.problem}"
    if not any(server.does_background_work for server in servers):
        yield (
            "no server that does background work is alive: turns are recorded, and are promoted "
            "and extracted when one with the role worker or all is started"
        )


def _with(servers: Sequence[Server], digest: str) -> list[str]:
    return [one.name for one in servers if one.config_digest == digest and not one.is_stopping]
