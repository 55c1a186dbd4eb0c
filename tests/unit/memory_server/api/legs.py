"""Every way in which stored memory leaves the server, and what is no such way, and why."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

KINDS = ("semantic", "episodic", "taxonomic", "procedural")
SOURCES = (*KINDS, "block", "stm")
MODES = ("text", "semantic", "hybrid")
WORDS = "which vault code is it"
ANA: Mapping[str, Any] = {"user_id": "ana"}
SECRETS: Mapping[str, str] = {"ana": "ANAHERON", "bob": "BOBOTTER", "bank": "BANKBADGER"}
"""What Ana knows in the shop, what Bob does, and what another Ana does in the bank."""
LATER = "2999-01-01T00:00:00Z"


@dataclass(frozen=True, kw_only=True)
class Leg:
    """One request of Ana's; `finds` says whether her own memory has to come back by it."""

    route: str
    body: Mapping[str, Any] | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    path: str | None = None
    """Where it differs from the route: `{name}` stands for an id that the world knows."""
    as_owner: bool = False
    finds: bool = True


def contexts() -> Iterator[Leg]:
    """Yield contexts of every source, alone and together."""
    for route in ("POST /context", "POST /retrieval/context"):
        for sources in [[kind] for kind in SOURCES] + [[*SOURCES]]:
            body = {**ANA, "query": WORDS, "session_id": "s", "enabled_sources": sources}
            yield Leg(route=route, body=body)


def contexts_by_source() -> Iterator[Leg]:
    """Yield each source in each mode, filtered or not, reranked or not."""
    for source in SOURCES:
        for mode in MODES:
            for given in (None, {"metadata.tier": "gold"}, {"agent_id": {"$exists": False}}):
                spec = {"source": source, "mode": mode, "metadata_filter": given}
                body = {**ANA, "query": WORDS, "session_id": "s", "sources": [spec]}
                for rerank in (False, True):
                    yield Leg(
                        route="POST /retrieval/context-from-sources", body=body | {"rerank": rerank}
                    )


def searches() -> Iterator[Leg]:
    """Yield searches of each kind in each mode, of the present and as of a moment."""
    for kind in KINDS:
        for mode in MODES:
            for more in ({}, {"as_of": LATER}, {"metadata_filter": {"metadata.tier": "gold"}}):
                body = {**ANA, "query": WORDS, "mode": mode, **more}
                yield Leg(route="POST /search", body=body | {"type": kind})
                yield Leg(route=f"POST /retrieval/{kind}", body=body)
    for mode in MODES:
        for given in (None, {"metadata.tier": "gold"}):
            body = {**ANA, "query": WORDS, "mode": mode, "metadata_filter": given}
            yield Leg(route="POST /turns/search", body=body)
            for more in ({}, {"as_of": LATER}, {"conversation_id": "s"}, {"viewpoint": "user"}):
                yield Leg(route="POST /blocks/search", body=body | more)


def lists() -> Iterator[Leg]:
    """Yield lists, and single memories: one's own and others'."""
    for kind in KINDS:
        yield Leg(route=f"GET /{kind}", params={**ANA, "domain": f"vaults {SECRETS['ana']}"})
    yield Leg(route="GET /taxonomic/domains", params=ANA)
    for more in ({}, {"conversation_id": "s"}, {"viewpoint": "user"}):
        yield Leg(route="GET /blocks", params={**ANA, **more})
    yield Leg(route="GET /procedural", params={**ANA, "include_deleted": "true"})
    for kind, place, named in (
        ("semantic", "/semantic", "memory_id"),
        ("procedural", "/procedural", "memory_id"),
        ("block", "/blocks", "block_id"),
    ):
        route = f"GET {place}/{{{named}}}"
        yield Leg(route=route, path=f"{place}/{{ana-{kind}}}", params=ANA)
        for whose in ("bob", "bank"):
            yield Leg(route=route, path=f"{place}/{{{whose}-{kind}}}", params=ANA, finds=False)


def others() -> Iterator[Leg]:
    """Yield records of declared types, the agent's recall, and what administration shows of Ana."""
    yield Leg(
        route="POST /types/{type_name}/retrieve",
        path="/types/vault/retrieve",
        body={"query": WORDS},
    )
    yield Leg(route="POST /invoke", body={**ANA, "message": WORDS})
    yield Leg(route="POST /invoke/stream", body={**ANA, "message": WORDS})
    shown = {**ANA, "include_history": "true"}
    for prefix in ("", "/projects/{project_id}"):
        yield Leg(
            route=f"GET {prefix}/admin/memories",
            path=f"{prefix}/admin/memories",
            params=shown,
            as_owner=True,
        )
        for tail in ("", "/history"):
            route = f"GET {prefix}/admin/memories/{{memory_id}}{tail}"
            for whose in ("ana", "bank"):
                path = f"{prefix}/admin/memories/{{{whose}-semantic}}{tail}"
                yield Leg(route=route, path=path, as_owner=True, finds=whose == "ana")


def waiting() -> Iterator[Leg]:
    """Yield what waits for a decision: a list, and one by its id."""
    yield Leg(route="GET /proposals", params=ANA, as_owner=True)
    for whose in ("ana", "bank"):
        path = f"/proposals/{{{whose}-proposal}}"
        finds = whose == "ana"
        yield Leg(route="GET /proposals/{proposal_id}", path=path, as_owner=True, finds=finds)


LEGS: Sequence[Leg] = (
    *contexts(),
    *contexts_by_source(),
    *searches(),
    *lists(),
    *others(),
    *waiting(),
)

NO_LEGS: Mapping[str, Sequence[str]] = {
    "they save, and answer with what was sent": (
        "POST /turns",
        "POST /stm/turns",
        "POST /semantic",
        "POST /episodic",
        "POST /taxonomic",
        "POST /procedural",
        "POST /types/{type_name}",
        "POST /blocks",
    ),
    "they change or remove what is named by its id, as tests/wire/test_isolation.py asks": (
        "PATCH /semantic/{memory_id}",
        "PATCH /procedural/{memory_id}",
        "DELETE /procedural/{memory_id}",
    ),
    "they decide on what is named by its id, as the suites of proposals and of roles ask": (
        "POST /proposals/approve",
        "POST /proposals/reject",
        "PATCH /proposals/{proposal_id}",
        "POST /proposals/{proposal_id}/approve",
        "POST /proposals/{proposal_id}/reject",
    ),
    "they move whole projects or the store, as the suites of archives and of isolation ask": (
        "GET /admin/export",
        "GET /projects/{project_id}/admin/export",
        "POST /admin/import",
        "POST /projects/{project_id}/admin/import",
        "GET /admin/backup",
    ),
    "they count": ("GET /queueStats", "GET /worker/queueStats", "GET /metrics"),
    "tools that call the same services, with tests of their own": (
        "POST /projects/{project_id}/mcp",
        "GET /projects/{project_id}/mcp",
        "DELETE /projects/{project_id}/mcp",
        "POST /projects/{project_id}/workspaces/{workspace}/invoke",
        "POST /projects/{project_id}/workspaces/{workspace}/invokeStream",
    ),
}
"""Routes that have no leg of their own, by the reason."""

WITHOUT_MEMORY = (
    "/health",
    "/ready",
    "/openapi.json",
    "/oauth",
    "/auth",
    "/organizations",
    "/projects/{project_id}/service-accounts",
    "/projects/{project_id}/members",
    "/projects/{project_id}/secrets",
    "/projects/{project_id}/executions",
    "/admin/apply",
    "/admin/config",
    "/admin/runtime",
    "/admin/flush",
    "/admin/jobs",
    "/admin/scope",
    "/admin/reembedding",
)
"""Beginnings of routes that are about the server, its callers or its work."""
EXACTLY_WITHOUT_MEMORY = ("/projects", "/projects/{project_id}")
