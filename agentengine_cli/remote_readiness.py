"""How a server elsewhere is, for those who do not administer it: what it tells everybody."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memory_server.errors import Forbidden

if TYPE_CHECKING:
    from memory_server.client import MemoryServerClient

UNKNOWN = "unknown"


async def readiness(client: "MemoryServerClient") -> Mapping[str, Any]:
    """Return the server's readiness in the form of its runtime document.

    Without `config`, which administrators alone see; `queue` holds the work of the client's
    project, where the caller may see that.
    """
    ready = await client.ready()
    parts = {"index": "search", "store": "store", "worker": "background", "version": "version"}
    parts |= {"reembedding": "reembedding"}
    return {
        "state": ready.get("status") or UNKNOWN,
        "blocked_on": ready.get("blocked_on") or (),
        "providers": {name: ready.get(name) for name in ("embedding", "extraction")},
        "queue": await _queue(client),
        **{ours: ready.get(theirs) for ours, theirs in parts.items()},
    }


async def own_project(client: "MemoryServerClient") -> str:
    """Return the project that holds the server's configuration."""
    return str((await client.ready()).get("project_id") or UNKNOWN)


async def _queue(client: "MemoryServerClient") -> Mapping[str, Any] | None:
    try:
        return await client.queue_stats()
    except Forbidden:
        return None
