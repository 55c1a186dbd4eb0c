from typing import Any

import httpx
import pytest

FLAT = "/api/v1/memory"
BODIES: dict[str, dict[str, Any]] = {
    "semantic": {"label": "seat", "text": "Ana prefers window seats"},
    "episodic": {"title": "Trip", "content": "Ana went to Oslo", "session_id": "s"},
    "taxonomic": {"domain": "travel", "term": "PNR", "definition": "a booking's name"},
    "procedural": {"procedure": "rebook", "description": "how to", "content": "call"},
}
COMMON = {
    "id",
    "_id",
    "org_id",
    "project_id",
    "user_id",
    "agent_id",
    "visibility",
    "metadata",
    "contextual_metadata",
    "has_embedding",
    "is_latest",
    "deleted",
    "created_at",
    "updated_at",
    "reinforcement_count",
    "version",
    "supersedes",
    "superseded_by",
}
OWN = {
    "semantic": {"label", "text", "source"},
    "episodic": {"title", "content", "summary_text", "summary", "session_id", "snapshot_ref_id"}
    | {"summary_type", "source_agent", "participants", "tags", "extraction_source"},
    "taxonomic": {"domain", "term", "definition", "related_terms", "query_expansion"},
    "procedural": {"procedure", "description", "content", "steps", "resources", "allowed_tools"}
    | {"compatibility", "license", "trigger_conditions", "tags", "source_format", "source_path"},
}


async def save(client: httpx.AsyncClient, kind: str, **changes: Any) -> str:
    body = BODIES[kind] | {"user_id": "ana"} | changes
    answer = await client.post(f"{FLAT}/{kind}", json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def entries(client: httpx.AsyncClient, path: str) -> list[dict[str, Any]]:
    answer = await client.get(f"{FLAT}/{path}")
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["entries"]
    return found


@pytest.mark.parametrize("kind", BODIES)
async def test_a_saved_memory_is_listed_as_a_document(client: httpx.AsyncClient, kind: str) -> None:
    memory_id = await save(client, kind, metadata={"n": 1})

    [entry] = await entries(client, kind)

    assert set(entry) >= COMMON | OWN[kind]
    assert entry["id"] == entry["_id"] == memory_id
    assert entry["metadata"] == {"n": 1}
    assert "embedding" not in entry
    assert entry.items() >= BODIES[kind].items()


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        ("semantic", {"label": "seat"}),
        ("episodic", {"title": "Trip"}),
        ("taxonomic", {"domain": "travel", "term": "PNR"}),
        ("procedural", {"procedure": "rebook"}),
    ],
)
async def test_a_save_is_acknowledged_with_the_name(
    client: httpx.AsyncClient, kind: str, named: dict[str, str]
) -> None:
    answer = (await client.post(f"{FLAT}/{kind}", json=BODIES[kind] | {"user_id": "ana"})).json()

    assert answer == {"id": answer["id"], "has_embedding": True, "acknowledged": True} | named


@pytest.mark.parametrize(("kind", "visibility"), [("semantic", "private"), ("taxonomic", "org")])
async def test_visibility_has_its_default(
    client: httpx.AsyncClient, kind: str, visibility: str
) -> None:
    await save(client, kind, visibility=None)

    assert (await entries(client, kind))[0]["visibility"] == visibility


@pytest.mark.parametrize("kind", BODIES)
async def test_a_listing_is_limited_by_user_and_visibility(
    client: httpx.AsyncClient, kind: str
) -> None:
    await save(client, kind, visibility="private")

    assert len(await entries(client, f"{kind}?user_id=ana&visibility=private")) == 1
    assert await entries(client, f"{kind}?user_id=bob") == []
    assert await entries(client, f"{kind}?user_id=ana&visibility=org") == []


@pytest.mark.parametrize("kind", BODIES)
async def test_blank_query_values_count_as_absent(client: httpx.AsyncClient, kind: str) -> None:
    await save(client, kind)
    blank = "org_id=&project_id=&user_id=&visibility=&session_id=&label=&domain=&procedure=&limit="

    assert len(await entries(client, f"{kind}?{blank}&include_deleted=")) == 1


async def test_episodes_are_listed_by_session_and_up_to_a_limit(client: httpx.AsyncClient) -> None:
    for number in range(3):
        await save(client, "episodic", title=f"t{number}", session_id=f"s{number % 2}")

    one = await entries(client, "episodic?session_id=s1")

    assert [entry["title"] for entry in one] == ["t1"]
    assert len(await entries(client, "episodic?limit=2")) == 2
    assert (await client.get(f"{FLAT}/episodic?limit=1001")).status_code == 422


async def test_a_fact_is_read_and_changed_by_id(client: httpx.AsyncClient) -> None:
    memory_id = await save(client, "semantic", metadata={"n": 1})
    path = f"{FLAT}/semantic/{memory_id}"

    changed = await client.patch(path, json={"text": "Aisle seats", "source": None})

    assert changed.status_code == 200
    assert (await client.get(path)).json() == changed.json()
    assert changed.json()["text"] == "Aisle seats"
    assert (changed.json()["version"], changed.json()["metadata"]) == (2, {"n": 1})


async def test_a_former_version_is_not_read_by_its_id(client: httpx.AsyncClient) -> None:
    memory_id = await save(client, "semantic")
    changed = await client.patch(f"{FLAT}/semantic/{memory_id}", json={"text": "Aisle"})

    former = await client.get(f"{FLAT}/semantic/{changed.json()['supersedes']}")

    assert former.status_code == 404


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
async def test_an_unknown_id_is_not_found(client: httpx.AsyncClient, method: str) -> None:
    body: dict[str, Any] | None = {} if method == "PATCH" else None

    answer = await client.request(method, f"{FLAT}/procedural/{'0' * 24}", json=body)

    assert (answer.status_code, answer.json()["code"]) == (404, "MEMORY_NOT_FOUND")


async def test_the_id_of_another_kind_is_not_found(client: httpx.AsyncClient) -> None:
    memory_id = await save(client, "semantic")

    for method in ("GET", "PATCH", "DELETE"):
        body: dict[str, Any] | None = {} if method == "PATCH" else None
        answer = await client.request(method, f"{FLAT}/procedural/{memory_id}", json=body)
        assert answer.status_code == 404


async def test_a_patch_of_another_owners_memory_finds_nothing(client: httpx.AsyncClient) -> None:
    memory_id = await save(client, "procedural")
    path = f"{FLAT}/procedural/{memory_id}"

    refused = await client.patch(path, json={"user_id": "bob", "content": "x"})
    changed = await client.patch(path, json={"user_id": "ana", "content": "x"})

    assert (refused.status_code, changed.status_code) == (404, 200)


async def test_a_deleted_procedure_is_hidden_until_it_is_asked_for(
    client: httpx.AsyncClient,
) -> None:
    path = f"{FLAT}/procedural/{await save(client, 'procedural')}"

    deleted = await client.delete(path, params={"user_id": "ana"})

    assert deleted.json() == {"deleted_count": 1, "acknowledged": True}
    assert (await client.get(path)).status_code == 404
    assert await entries(client, "procedural?include_deleted=false") == []
    assert (await client.get(f"{path}?include_deleted=true")).json()["deleted"] is True
    assert len(await entries(client, "procedural?include_deleted=true")) == 1


async def test_a_procedure_removed_for_good_is_gone(client: httpx.AsyncClient) -> None:
    path = f"{FLAT}/procedural/{await save(client, 'procedural')}"

    await client.delete(f"{path}?soft=false")

    assert (await client.get(f"{path}?include_deleted=true")).status_code == 404


async def test_the_domains_of_terms_are_listed(client: httpx.AsyncClient) -> None:
    await save(client, "taxonomic", domain="b")
    await save(client, "taxonomic", domain="a", visibility="private")

    every = await client.get(f"{FLAT}/taxonomic/domains")
    org = await client.get(f"{FLAT}/taxonomic/domains?visibility=org")

    assert (every.json(), org.json()) == ({"domains": ["a", "b"]}, {"domains": ["b"]})
