"""Searches by words take any text, and find the records that hold it."""

import string
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_server.domain.words import query_terms

FLAT = "/api/v1/memory"

TOKENS = (
    "a-b",
    "x/y",
    "current.md",
    '"quoted"',
    "GB/s",
    "C:\\temp\\log.txt",
    "node_modules/.bin",
    "ana@example.org",
    "1.2.3",
    "#42",
    "don't",
    "it\u2019s",
    "__init__",
    "snake_case",
    "ERR-4021",
    "AC/DC",
    "100%",
    "na\u00efve",
    "NAI\u0308VE",
    "日本語",
    "ключ-1",
    "AND",
    "OR NOT",
    "NEAR(a b)",
    "body:x*",
    "{col} : y",
    "^start",
    "-minus",
    "' OR 1=1 --",
)

words = st.text(string.ascii_lowercase + string.digits + "éжß日", min_size=1, max_size=8)
joints = st.text(string.punctuation + " \t\n\0", min_size=1, max_size=3)
pieces = st.lists(st.tuples(words, joints), min_size=1, max_size=6)
anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)

one_server = settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
)


async def know(client: httpx.AsyncClient, text: str, user_id: str = "ana") -> None:
    body = {"label": text[:40] or "-", "text": text, "user_id": user_id}
    saved = await client.post(f"{FLAT}/semantic", json=body)
    assert saved.status_code == 201, saved.text


async def search(client: httpx.AsyncClient, query: str, mode: str = "text") -> dict[str, Any]:
    body = {"type": "semantic", "query": query, "user_id": "ana", "mode": mode}
    answer = await client.post(f"{FLAT}/search", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def contents(found: dict[str, Any]) -> list[str]:
    return [chunk["content"] for chunk in found["memories"]]


@pytest.mark.parametrize("token", TOKENS)
async def test_a_record_is_found_by_the_very_token_it_holds(
    client: httpx.AsyncClient, token: str
) -> None:
    await know(client, f"before {token} behind")
    await know(client, "a record without it")
    await know(client, f"theirs {token} too", user_id="bob")

    assert contents(await search(client, token))[0] == f"before {token} behind"
    spec = {"source": "semantic", "mode": "text"}
    body = {"query": token, "user_id": "ana", "sources": [spec], "include_memories": True}
    answer = (await client.post(f"{FLAT}/retrieval/context-from-sources", json=body)).json()
    assert answer["selected_memories"][0]["content"] == f"before {token} behind"


@one_server
@given(pieces)
async def test_whatever_stands_between_the_words_they_are_found(
    client: httpx.AsyncClient, found: list[tuple[str, str]]
) -> None:
    text = "".join(word + joint for word, joint in found)
    await know(client, text)

    assert text in contents(await search(client, text)) or not query_terms(text)


@one_server
@given(anything, st.sampled_from(["text", "semantic", "hybrid"]))
async def test_no_query_is_ever_an_error(client: httpx.AsyncClient, query: str, mode: str) -> None:
    assert isinstance((await search(client, query, mode))["memories"], list)


@pytest.mark.parametrize("query", ["?!", '"', "-", "***", "()", "\\", "😀", "\0", ";--"])
async def test_a_query_of_punctuation_finds_nothing_and_is_told_why(
    client: httpx.AsyncClient, query: str
) -> None:
    await know(client, f"before {query} behind")

    found = await search(client, query)

    assert found["memories"] == []
    assert "no letter or digit" in found["warnings"][0]


@pytest.mark.parametrize("glue", [" ", "-", "/", ""])
async def test_ten_thousand_characters_are_a_query_too(
    client: httpx.AsyncClient, glue: str
) -> None:
    text = glue.join(f"word{number}" for number in range(2_000))[:10_000]
    await know(client, text)

    assert contents(await search(client, text)) == [text]
