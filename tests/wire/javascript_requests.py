"""The requests of the JavaScript SDK: every operation with every field it sends."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

TENANCY = {"org_id": "", "project_id": ""}
SOURCES = ("stm", "episodic", "semantic", "taxonomic", "procedural")


def unset(*names: str) -> dict[str, None]:
    return dict.fromkeys(names)


TURN = {
    "role": "user",
    "content": "I am allergic to peanuts",
    "is_error": False,
    **unset("tokens", "stop_reason", "model_name", "tool_calls", "tool_call_id", "tool_name"),
    **unset("idempotency_key", "agent_id", "metadata"),
}
FACT = {
    "label": "allergy",
    "text": "is allergic to peanuts",
    "source": "agent",
    "visibility": "private",
    "upsert": True,
    **unset("agent_id", "metadata", "embedding", "session_id"),
}
EPISODE = {
    "title": "Lunch",
    "content": "had lunch without peanuts",
    "summary_text": "",
    "visibility": "private",
    **unset("agent_id", "participants", "tags", "metadata", "snapshot_ref_id", "summary_type"),
    **unset("source_agent", "extraction_source", "embedding", "skip_embedding"),
}
TERM = {
    "term": "PNR",
    "definition": "the name of a booking",
    "query_expansion": True,
    "visibility": "org",
    **unset("related_terms", "metadata", "agent_id"),
}
PROCEDURE = {
    "procedure": "rebook",
    "description": "how a booking is changed",
    "content": "open it, change it, save it",
    "visibility": "private",
    **unset("steps", "resources", "allowed_tools", "compatibility", "license", "tags", "metadata"),
    **unset("trigger_conditions", "agent_id", "extraction_source", "source_format", "source_path"),
}
SEARCH = {
    "query": "peanuts",
    "top_k": 50,
    **unset(
        "visibility", "session_id", "domain", "tags", "metadata_filter", "similarity_threshold"
    ),
}
CONTEXT = {
    "query": "peanuts",
    "top_k": 50,
    "include_memories": False,
    **unset("enabled_sources", "visibility", "session_id", "max_tokens", "format_style"),
    **unset("metadata_filter"),
}
FROM_SOURCES = {
    "query": "peanuts",
    "rerank": False,
    "include_memories": False,
    "sources": [{"source": "semantic", "mode": "hybrid", "metadata_filter": None, "top_k": 20}],
    **unset("visibility", "session_id", "max_tokens", "format_style"),
}


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One method of the SDK, as a request."""

    method: str
    path: str
    body: Mapping[str, Any] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    mine: tuple[str, ...] = ("user_id",)
    """The fields that the test fills with its own user's name."""
    answers: Mapping[str, type] = field(default_factory=dict)
    status: int = 200


WROTE = {"id": str, "acknowledged": bool, "has_embedding": bool}
IN_SESSION = ("user_id", "session_id")
OPERATIONS = {
    "recordTurn": Operation(
        method="POST",
        path="turns",
        body=TURN,
        mine=IN_SESSION,
        status=201,
        answers=WROTE | {"session_id": str, "turn_seq": int},
    ),
    "buildContext": Operation(
        method="POST",
        path="context",
        body=CONTEXT,
        answers={"formatted_context": str, "metadata": dict},
    ),
    "buildContextFromSources": Operation(
        method="POST",
        path="retrieval/context-from-sources",
        body=FROM_SOURCES,
        answers={"formatted_context": str, "metadata": dict},
    ),
    **{
        name: Operation(
            method="POST",
            path="search",
            body=SEARCH | {"type": kind},
            mine=("user_id",) if kind != "taxonomic" else (),
            answers={"memories": list},
        )
        for name, kind in {
            "searchSemantic": "semantic",
            "searchEpisodes": "episodic",
            "searchTaxonomic": "taxonomic",
            "discoverProcedures": "procedural",
        }.items()
    },
    "saveSemantic": Operation(
        method="POST",
        path="semantic",
        body=FACT,
        status=201,
        answers=WROTE | {"label": str},
    ),
    "getSemantic": Operation(
        method="GET",
        path="semantic",
        query={"label": "allergy", "visibility": ""},
        answers={"entries": list},
    ),
    "saveEpisode": Operation(
        method="POST",
        path="episodic",
        body=EPISODE,
        mine=IN_SESSION,
        status=201,
        answers=WROTE | {"title": str},
    ),
    "listEpisodes": Operation(
        method="GET",
        path="episodic",
        query={"session_id": "", "visibility": "", "limit": 20},
        answers={"entries": list},
    ),
    "saveTaxonomic": Operation(
        method="POST",
        path="taxonomic",
        body=TERM,
        mine=("user_id", "domain"),
        status=201,
        answers=WROTE | {"domain": str, "term": str},
    ),
    "getTaxonomicTerm": Operation(
        method="GET",
        path="taxonomic",
        query={"visibility": ""},
        mine=("user_id", "domain"),
        answers={"entries": list},
    ),
    "listDomains": Operation(
        method="GET",
        path="taxonomic/domains",
        query={"visibility": ""},
        mine=(),
        answers={"domains": list},
    ),
    "saveProcedure": Operation(
        method="POST",
        path="procedural",
        body=PROCEDURE,
        status=201,
        answers=WROTE | {"procedure": str},
    ),
    "getProcedure": Operation(
        method="GET",
        path="procedural",
        query={"procedure": "rebook", "visibility": "", "include_deleted": "false"},
        answers={"entries": list},
    ),
}
"""Every operation of the SDK that names no id, by its name there."""
