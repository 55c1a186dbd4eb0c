"""Requests as the JavaScript SDK sends them, and answers as it takes them.

It sends every field, most of them null or blank, `is_error: false` and `query_expansion: true`
always, names no user when it searches terms and no owner when it changes or deletes a procedure;
it takes no null for a list, and checks every chunk field by field.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

import httpx
import pytest

from memory_server.api.families import FLAT, PROJECT
from tests.unit.memory_server.api.application import OWNER_TOKEN
from tests.unit.memory_server.api.application import PROJECT as SHOP
from tests.wire.conftest import Served
from tests.wire.javascript_requests import OPERATIONS, PROCEDURE, SOURCES, TENANCY, unset


@pytest.fixture(params=["flat", "project"])
def sdk(served: Served, request: pytest.FixtureRequest) -> Iterator[httpx.Client]:
    """The SDK's transport, once for a local server and once for a hosted one."""
    path = {"flat": FLAT, "project": PROJECT.format(project_id=SHOP)}[request.param]
    headers = {"Authorization": f"Bearer {OWNER_TOKEN}"} if request.param == "project" else {}
    with httpx.Client(base_url=f"{served.url}{path}/", headers=headers, trust_env=False) as client:
        yield client


@pytest.fixture
def call(sdk: httpx.Client, user: str) -> Callable[..., Any]:
    """Sends an operation as the user, and returns its answer."""

    def send(name: str, path: str = "", **changes: Any) -> Any:
        operation = OPERATIONS[name]
        path = path or operation.path
        own = dict.fromkeys(operation.mine, user) | changes
        if operation.method == "POST":
            answer = sdk.post(path, json=TENANCY | dict(operation.body) | own)
        else:
            answer = sdk.get(path, params=TENANCY | dict(operation.query) | own)
        assert answer.status_code == operation.status, answer.text
        return answer.json()

    return send


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_is_answered_in_the_shape_that_is_taken(
    call: Callable[..., Any], name: str
) -> None:
    answer = call(name)

    kinds = {key: type(answer[key]) for key in OPERATIONS[name].answers}
    assert kinds == OPERATIONS[name].answers


@pytest.mark.parametrize(
    "name", [name for name, one in OPERATIONS.items() if list in one.answers.values()]
)
def test_a_list_of_nothing_is_an_array(call: Callable[..., Any], name: str, user: str) -> None:
    answer = call(name, user_id=f"nobody-{user}", label="none", procedure="none", domain=user)

    assert [answer[key] for key in OPERATIONS[name].answers] == [[]]


def test_a_context_without_a_user_or_a_session_is_built(call: Callable[..., Any]) -> None:
    for name in ("buildContext", "buildContextFromSources"):
        assert isinstance(call(name, user_id=None, session_id=None)["metadata"], dict)


def test_what_is_saved_with_nulls_is_read_with_defaults(call: Callable[..., Any]) -> None:
    call("saveProcedure")

    [entry] = call("getProcedure")["entries"]

    lists = ("steps", "resources", "allowed_tools", "trigger_conditions", "tags")
    assert [entry[name] for name in lists] == [[]] * len(lists)
    assert (entry["metadata"], entry["license"]) == ({}, None)


def test_a_saved_term_is_expanded_in_queries(call: Callable[..., Any]) -> None:
    call("saveTaxonomic")

    [entry] = call("getTaxonomicTerm")["entries"]

    assert entry["query_expansion"] is True


def test_a_search_of_terms_names_no_user(call: Callable[..., Any], user: str) -> None:
    call("saveTaxonomic")

    found = call("searchTaxonomic", query="PNR", domain=user)["memories"]

    assert [chunk["content"] for chunk in found] == [f"{user}/PNR: the name of a booking"]


def test_a_second_save_of_a_label_replaces_the_first(call: Callable[..., Any]) -> None:
    first = call("saveSemantic")
    second = call("saveSemantic", text="is allergic to nuts")

    [entry] = call("getSemantic")["entries"]

    assert (first["id"], entry["text"]) == (second["id"], "is allergic to nuts")


@pytest.mark.parametrize("named", [{}, {"user_id": None}, {"user_id": ""}])
def test_a_procedure_is_changed_and_deleted_without_naming_its_owner(
    sdk: httpx.Client, call: Callable[..., Any], named: dict[str, Any]
) -> None:
    path = f"procedural/{call('saveProcedure')['id']}"
    nulls = unset("content", "steps", "resources", "allowed_tools", "tags", "visibility")

    changed = sdk.patch(path, json=TENANCY | nulls | {"description": "new"} | named)
    deleted = sdk.delete(path, params=TENANCY | {"soft": "true"})

    assert (changed.json()["description"], changed.json()["content"]) == (
        "new",
        PROCEDURE["content"],
    )
    assert deleted.json() == {"deleted_count": 1, "acknowledged": True}


def test_a_fact_is_changed_with_nulls_for_what_stays(
    sdk: httpx.Client, call: Callable[..., Any]
) -> None:
    path = f"semantic/{call('saveSemantic')['id']}"

    changed = sdk.patch(path, json=TENANCY | {"text": "new"} | unset("source", "visibility"))

    assert (changed.json()["text"], changed.json()["source"]) == ("new", "agent")


def test_an_entry_that_is_not_there_is_a_404(sdk: httpx.Client) -> None:
    for path in ("semantic/none", "procedural/none"):
        answer = sdk.get(path, params=TENANCY)
        assert (answer.status_code, answer.json()["code"]) == (404, "MEMORY_NOT_FOUND")


NEEDED = {"id": str, "content": str, "source": str, "timestamp": str}
OPTIONAL = {"embedding": list, "similarity_score": float, "metadata": dict}
"""The schema of a chunk. What may be absent may not be null."""


def _chunk_problems(chunk: Mapping[str, Any]) -> list[str]:
    """Return what the SDK's chunk schema has against a chunk."""
    kinds = NEEDED | OPTIONAL
    problems = sorted((NEEDED.keys() - chunk.keys()) | (chunk.keys() - kinds.keys()))
    problems += [name for name in chunk if not isinstance(chunk[name], kinds.get(name, object))]
    if chunk["source"] not in SOURCES:
        problems.append("source is unknown")
    if datetime.fromisoformat(chunk["timestamp"]).utcoffset() is None:
        problems.append("timestamp has no offset")
    return problems


CHUNKS = [
    ("saveSemantic", "searchSemantic", "semantic", {"label", "source", "visibility", "user_id"}),
    (
        "saveEpisode",
        "searchEpisodes",
        "episodic",
        {"title", "summary_text", "session_id", "participants", "tags"},
    ),
    ("saveTaxonomic", "searchTaxonomic", "taxonomic", {"domain", "term", "definition"}),
    (
        "saveProcedure",
        "discoverProcedures",
        "procedural",
        {"procedure", "description", "tags", "trigger_conditions", "steps"},
    ),
]


@pytest.mark.parametrize("native", [False, True], ids=["search", "retrieval"])
@pytest.mark.parametrize(("save", "search", "source", "told"), CHUNKS, ids=[c[2] for c in CHUNKS])
def test_a_chunk_passes_the_schema_that_is_enforced(
    call: Callable[..., Any],
    user: str,
    save: str,
    search: str,
    source: str,
    told: set[str],
    native: bool,
) -> None:
    saved = call(save, metadata={"n": 1})
    query = {"query": "peanuts booking PNR"} | ({"domain": user} if source == "taxonomic" else {})
    path = {"path": f"retrieval/{source}"} if native else {}

    [chunk] = call(search, **query, **path)["memories"]

    assert _chunk_problems(chunk) == []
    assert (chunk["id"], chunk["source"]) == (saved["id"], source)
    assert told | {"metadata"} <= set(chunk["metadata"])
    assert chunk["metadata"]["metadata"] == {"n": 1}
    assert 0 < chunk["similarity_score"] <= 1


def test_the_chunks_of_a_context_pass_the_schema_too(call: Callable[..., Any], user: str) -> None:
    call("recordTurn")
    for name in ("saveSemantic", "saveEpisode", "saveTaxonomic", "saveProcedure"):
        call(name)

    context = call(
        "buildContext", session_id=user, enabled_sources=[*SOURCES], include_memories=True
    )

    chunks = context["selected_memories"]
    assert {chunk["source"] for chunk in chunks} == set(SOURCES)
    assert any("similarity_score" not in chunk for chunk in chunks)
    assert [problem for chunk in chunks for problem in _chunk_problems(chunk)] == []


def test_a_procedure_is_named_within_what_is_told_of_it(call: Callable[..., Any]) -> None:
    call("saveProcedure")

    [found] = call("discoverProcedures", query="rebook")["memories"]

    assert found["metadata"]["procedure"] == "rebook"
    assert found["metadata"]["id"] == found["id"]


def test_a_chunk_without_metadata_of_its_caller_has_no_slot_for_it(
    call: Callable[..., Any],
) -> None:
    call("saveSemantic")

    [chunk] = call("searchSemantic")["memories"]

    assert "metadata" not in chunk["metadata"]


@pytest.mark.parametrize("unset_fields", [{}, unset("tags", "contextual_metadata")])
def test_records_of_a_declared_type_are_saved_and_retrieved(
    sdk: httpx.Client, unset_fields: dict[str, None]
) -> None:
    saved = sdk.post("types/ticket", json={"content": "the pump leaks"} | unset_fields)
    found = sdk.post("types/ticket/retrieve", json={"query": "pump", "top_k": 100, "tags": None})

    assert saved.status_code == 201
    assert saved.json().keys() == {"id", "type", "tags", "has_embedding"}
    assert saved.json()["id"] in [record["id"] for record in found.json()["results"]]
    assert found.json()["count"] == len(found.json()["results"])


def test_a_type_that_is_not_declared_is_told_in_the_words_that_are_looked_for(
    sdk: httpx.Client,
) -> None:
    saved = sdk.post("types/nothing", json={"content": "c", "tags": None})

    assert saved.status_code == 404
    assert "unknown custom memory type 'nothing'" in saved.json()["error"]
