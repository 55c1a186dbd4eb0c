"""Bodies as the JavaScript SDK sends them: every field there, many of them null or blank."""

from typing import Any

import httpx
import pytest

FLAT = "/api/v1/memory"
TENANCY = {"org_id": "", "project_id": ""}


def post(http: httpx.Client, path: str, body: dict[str, Any]) -> Any:
    answer = http.post(f"{FLAT}/{path}", json=TENANCY | body)
    assert answer.is_success, answer.text
    return answer.json()


def test_a_turn_with_every_field_null(http: httpx.Client, user: str) -> None:
    unset = dict.fromkeys(
        (
            "tokens",
            "stop_reason",
            "model_name",
            "tool_calls",
            "tool_call_id",
            "tool_name",
            "idempotency_key",
            "agent_id",
            "metadata",
        )
    )
    turn = {"session_id": user, "user_id": user, "role": "user", "content": "hi", "is_error": False}

    assert post(http, "turns", unset | turn)["turn_seq"] == 1


def test_a_context_with_every_field_null(http: httpx.Client, user: str) -> None:
    unset = dict.fromkeys(
        ("session_id", "visibility", "format_style", "max_tokens", "metadata_filter")
    )
    body = {"query": "x", "user_id": user, "top_k": 50, "include_memories": False}

    context = post(http, "context", unset | {"enabled_sources": None} | body)

    assert context["formatted_context"] == ""


@pytest.mark.parametrize("kind", ["semantic", "episodic", "taxonomic", "procedural"])
def test_a_search_that_finds_nothing_gives_an_array(
    http: httpx.Client, user: str, kind: str
) -> None:
    unset = dict.fromkeys(("visibility", "session_id", "domain", "tags", "metadata_filter"))

    found = post(http, "search", unset | {"type": kind, "query": "x", "user_id": user, "top_k": 5})

    assert found["memories"] == []


def test_a_search_of_terms_names_no_user(http: httpx.Client, user: str) -> None:
    term = {"domain": user, "term": "t", "definition": "d", "user_id": user, "related_terms": None}
    post(http, "taxonomic", term | {"query_expansion": True, "visibility": "org"})

    found = post(http, "search", {"type": "taxonomic", "query": "t", "domain": user, "top_k": 5})

    assert [chunk["content"] for chunk in found["memories"]] == [f"{user}/t: d"]


def test_a_chunk_passes_the_schema_that_is_enforced(http: httpx.Client, user: str) -> None:
    fact = {"label": "l", "text": "a fact", "user_id": user, "source": "agent", "upsert": True}
    post(http, "semantic", fact | {"visibility": "private", "agent_id": None, "metadata": None})

    [chunk] = post(http, "search", {"type": "semantic", "query": "fact", "user_id": user})[
        "memories"
    ]

    assert isinstance(chunk["id"], str)
    assert isinstance(chunk["content"], str)
    assert isinstance(chunk["timestamp"], str)
    assert isinstance(chunk["similarity_score"], float)
    assert isinstance(chunk["metadata"], dict)


def test_a_procedure_is_changed_and_deleted_without_naming_its_owner(
    http: httpx.Client, user: str
) -> None:
    body = {"procedure": user, "description": "d", "content": "c", "user_id": user}
    made = post(http, "procedural", body | dict.fromkeys(("steps", "resources", "tags", "license")))
    path = f"{FLAT}/procedural/{made['id']}"

    changed = http.patch(path, json=TENANCY | {"description": "new", "content": None, "tags": None})
    deleted = http.delete(path, params=TENANCY | {"soft": "true"})

    assert (changed.json()["description"], changed.json()["content"]) == ("new", "c")
    assert deleted.json()["deleted_count"] == 1
