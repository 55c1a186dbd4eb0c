"""What callers store with a memory comes back as it was, and is never more than data."""

import itertools
import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memory_server.app import create_app
from tests.clock import ManualClock
from tests.unit.memory_server.api.application import an_application

FLAT = "/api/v1/memory"
SAID = "the copper pump leaks"
numbers = itertools.count(1)

BODIES: Mapping[str, dict[str, Any]] = {
    "semantic": {"label": "pump", "text": SAID, "upsert": True},
    "episodic": {"title": "Leak", "content": SAID, "session_id": "s"},
    "taxonomic": {"domain": "plant", "term": "pump", "definition": SAID},
    "procedural": {"procedure": "seal", "description": "how", "content": SAID},
}

HOSTILE = (
    "$gt",
    "$where",
    "a.b",
    ".",
    "metadata.tier",
    "metadata",
    "user_id",
    "' OR 1=1 --",
    '"}], "x": [{"',
    "gold' UNION SELECT * FROM memories --",
    "*",
    "gold*",
    'NEAR("gold" "x")',
    "scope : 1 AND gold",
    "%",
    "_",
    "\\",
    '"',
    "\0",
    "gold\0",
    "\u2028",
    "😀",
    "e\u0301",
    "é",
    " gold ",
    "GOLD",
    "",
)
"""Values and keys that some layer could take for syntax."""

texts = st.one_of(
    st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=2**63, max_value=2**200),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
documents = st.dictionaries(texts, values, max_size=5)

reuses_the_server = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
)


@pytest.fixture
async def client(tmp_path: Path, clock: ManualClock) -> AsyncIterator[httpx.AsyncClient]:
    """A caller of a server whose sources are all indexed for both legs."""
    kinds = (*BODIES, "short_term")
    application = an_application(
        tmp_path, clock, metadata_partition_index={kind: ["both"] for kind in kinds}
    )
    await application.store.open()
    transport = httpx.ASGITransport(create_app(application))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as caller:
        yield caller
    await application.close()


async def posted(client: httpx.AsyncClient, path: str, **body: Any) -> dict[str, Any]:
    answer = await client.post(f"{FLAT}/{path}", json={"user_id": "ana"} | body)
    assert answer.status_code in (200, 201), answer.text
    found: dict[str, Any] = answer.json()
    return found


def spelled(value: Any) -> str:
    """Return a text in which 1, 1.0, true and -0.0 differ."""
    return json.dumps(value, sort_keys=True)


async def sent_back(client: httpx.AsyncClient, kind: str, user_id: str) -> list[Any]:
    """Return the caller's slot as every read of that kind shows it."""
    listed = (
        await client.get(f"{FLAT}/{kind}", params={"user_id": user_id, "domain": "plant"})
    ).json()
    asked: dict[str, Any] = {"query": "copper pump", "user_id": user_id, "include_memories": True}
    source = {"source": kind, "mode": "text"}
    chunks = [
        *(await posted(client, "search", type=kind, **asked))["memories"],
        *(await posted(client, "context", enabled_sources=[kind], **asked))["selected_memories"],
        *(await posted(client, "retrieval/context-from-sources", sources=[source], **asked))[
            "selected_memories"
        ],
    ]
    assert len(chunks) == 3
    slots = [chunk["metadata"].get("metadata", {}) for chunk in chunks]
    return [listed["entries"][0]["metadata"], *slots]


@pytest.mark.parametrize("kind", BODIES)
@reuses_the_server
@given(metadata=documents)
@example(metadata={})
@example(
    metadata={"": {"": []}, "n": None, "big": 2**70, "tiny": 5e-324, "one": 1.0, "deep": [[{}]]}
)
@example(metadata={"citation_score": 1, "llm_confidence_score": 1, "combined_score": 1})
async def test_any_value_comes_back_in_a_slot_of_its_own(
    client: httpx.AsyncClient, kind: str, metadata: dict[str, Any]
) -> None:
    user_id = f"user-{next(numbers)}"
    await posted(client, kind, **BODIES[kind], user_id=user_id, metadata=metadata)

    for slot in await sent_back(client, kind, user_id):
        assert spelled(slot) == spelled(metadata)


@reuses_the_server
@given(metadata=documents)
async def test_any_value_of_a_turn_comes_back(
    client: httpx.AsyncClient, metadata: dict[str, Any]
) -> None:
    turn = {"session_id": "s", "role": "user", "content": SAID, "metadata": metadata}
    await posted(client, "turns", **turn)

    context = await posted(
        client,
        "context",
        query="pump",
        session_id="s",
        enabled_sources=["stm"],
        include_memories=True,
        top_k=1,
    )

    [chunk] = context["selected_memories"]
    assert spelled(chunk["metadata"].get("metadata", {})) == spelled(metadata)


@pytest.mark.parametrize("mode", ["text", "semantic", "hybrid"])
async def test_no_stored_value_and_no_operand_is_read_as_anything_but_itself(
    client: httpx.AsyncClient, mode: str
) -> None:
    stored: list[Any] = [*HOSTILE, {"$gt": ""}, {"$ne": None}, 1, True, "1"]
    for number, value in enumerate(stored):
        metadata = {"tier": value, str(value): "gold", "$or": [{}], "metadata.tier": "gold"}
        await posted(
            client, "semantic", label=f"l{number}", text=f"pump {number}", metadata=metadata
        )

    for number, value in enumerate(HOSTILE):
        spec = {"source": "semantic", "mode": mode, "top_k": 200}
        spec["metadata_filter"] = {"metadata.tier": value}
        found = await posted(
            client,
            "retrieval/context-from-sources",
            query="pump",
            sources=[spec],
            include_memories=True,
        )
        assert [one["content"] for one in found["selected_memories"]] == [f"pump {number}"]
