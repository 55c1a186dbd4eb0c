"""What JSON may hold: the same answer on every route that takes a body."""

import json
from typing import Any

import httpx
import pytest

from memory_server.application import Application
from memory_server.domain.limits import (
    MAX_ID,
    MAX_JSON_DEPTH,
    MAX_METADATA_BYTES,
    MAX_METADATA_DEPTH,
    MAX_METADATA_KEYS,
    MAX_QUERY_CHARACTERS,
    MAX_TEXT_BYTES,
)
from tests.unit.memory_server.api.application import PROJECT

FLAT = "/api/v1/memory"
ROUTES = (
    ("POST", f"{FLAT}/turns"),
    ("POST", f"{FLAT}/context"),
    ("POST", f"{FLAT}/retrieval/context-from-sources"),
    ("POST", f"{FLAT}/search"),
    ("POST", f"{FLAT}/semantic"),
    ("POST", f"{FLAT}/episodic"),
    ("POST", f"{FLAT}/taxonomic"),
    ("POST", f"{FLAT}/procedural"),
    ("POST", f"{FLAT}/types/note"),
    ("PATCH", f"{FLAT}/procedural/some-id"),
    ("POST", f"/api/v1/projects/{PROJECT}/workspaces/w/invoke"),
    ("POST", f"/api/v1/projects/{PROJECT}/mcp"),
)
BROKEN = {
    "nothing but white space": b" \n ",
    "no JSON": b"{",
    "deep lists": b"[" * 100_000,
    "deep lists that end": b"[" * 100_000 + b"]" * 100_000,
    "deep objects": b'{"metadata":' * 100_000 + b"1" + b"}" * 100_000,
    "deep beside fields": b'{"content": "x", "a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "NaN": b'{"metadata": {"a": NaN}}',
    "Infinity": b'{"metadata": {"a": -Infinity}}',
    "half a character": rb'{"content": "\ud800"}',
    "half a character as a key": rb'{"metadata": {"\udfff": 1}}',
    "half a character in bytes": b'{"content": "\xed\xa0\x80"}',
    "no UTF-8": b'{"content": "\xff"}',
    "another encoding": '{"content": "x"}'.encode("utf-16"),
    "a byte order mark": b"\xef\xbb\xbf{}",
    "an endless number": b'{"metadata": {"a": ' + b"9" * 5000 + b"}}",
    "a comment": b'{"content": "x"} // hello',
    "a trailing comma": b'{"content": "x",}',
    "a raw line break": b'{"content": "a\nb"}',
}


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN.keys())
async def test_what_is_no_json_is_refused_alike_everywhere(
    client: httpx.AsyncClient, owner: dict[str, str], method: str, path: str, body: bytes
) -> None:
    headers = owner | {"content-type": "application/json"}

    answer = await client.request(method, path, content=body, headers=headers)

    assert (answer.status_code, answer.json()["code"]) == (422, "VALIDATION_ERROR")
    assert answer.json()["errors"][0]["loc"] == ["body"]


async def test_the_depth_that_a_body_may_have_is_told(client: httpx.AsyncClient) -> None:
    def nested(levels: int) -> bytes:
        return b'{"content": "x", "session_id": "s", "role": "user", "other": ' + (
            b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"
        )

    headers = {"content-type": "application/json"}
    deepest = await client.post(f"{FLAT}/turns", content=nested(MAX_JSON_DEPTH), headers=headers)
    deeper = await client.post(f"{FLAT}/turns", content=nested(MAX_JSON_DEPTH + 1), headers=headers)

    assert deepest.status_code == 201
    assert deeper.status_code == 422
    assert str(MAX_JSON_DEPTH) in deeper.json()["error"]


def fact(**changes: Any) -> dict[str, Any]:
    return {"user_id": "ana", "label": "a label", "text": "a text"} | changes


STRANGE = {
    "nul": "a\u0000b",
    "emoji": "👩‍👩‍👧",
    "separators": "a\u2028b\x1fc\x7f",
    "right to left": "\u202eabc",
    "not composed": "e\u0301",
}


@pytest.mark.parametrize("text", STRANGE.values(), ids=STRANGE.keys())
async def test_strange_texts_come_back_as_they_were_sent(
    client: httpx.AsyncClient, text: str
) -> None:
    metadata = {"text": text, text: [text], "number": 2**70, "float": 1e-320, "null": None}
    body = fact(label=text, text=text, metadata=metadata)

    saved = await client.post(f"{FLAT}/semantic", json=body)

    assert saved.status_code == 201
    found = (await client.get(f"{FLAT}/semantic/{saved.json()['id']}")).json()
    assert (found["label"], found["text"], found["metadata"]) == (text, text, metadata)


async def test_a_turn_with_a_null_character_is_found_by_the_words_behind_it(
    client: httpx.AsyncClient,
) -> None:
    turn = {"session_id": "s", "user_id": "ana", "role": "user", "content": "tea\u0000and saffron"}
    await client.post(f"{FLAT}/turns", json=turn)
    await client.post(f"{FLAT}/semantic", json=fact(text="tea\u0000and saffron"))

    query = {"type": "semantic", "query": "saffron", "user_id": "ana", "mode": "text"}
    [found] = (await client.post(f"{FLAT}/search", json=query)).json()["memories"]

    assert found["content"].endswith("tea\u0000and saffron")


async def test_of_a_key_that_is_there_twice_the_last_counts(client: httpx.AsyncClient) -> None:
    for path in ("turns", "semantic"):
        content = b'{"session_id": "s", "role": "user", "content": "x", "label": "l", "text": "t"'
        content += b', "metadata": {"a": 1, "a": 2}, "user_id": "bob", "user_id": "ana"}'
        headers = {"content-type": "application/json"}
        answer = await client.post(f"{FLAT}/{path}", content=content, headers=headers)
        assert answer.status_code == 201

    [found] = (await client.get(f"{FLAT}/semantic?user_id=ana")).json()["entries"]
    assert found["metadata"] == {"a": 2}


@pytest.mark.parametrize(
    ("path", "changes", "status", "limit"),
    [
        ("semantic", {"text": "Ω" * (MAX_TEXT_BYTES // 2 + 1)}, 413, MAX_TEXT_BYTES),
        ("semantic", {"user_id": "x" * (MAX_ID + 1)}, 422, MAX_ID),
        ("semantic", {"metadata": {"a": "x" * MAX_METADATA_BYTES}}, 422, MAX_METADATA_BYTES),
        (
            "semantic",
            {"metadata": {str(n): n for n in range(MAX_METADATA_KEYS + 1)}},
            422,
            MAX_METADATA_KEYS,
        ),
        (
            "semantic",
            {"metadata": json.loads('{"a":' * 40 + "1" + "}" * 40)},
            422,
            MAX_METADATA_DEPTH,
        ),
        ("search", {"query": "x" * (MAX_QUERY_CHARACTERS + 1)}, 422, MAX_QUERY_CHARACTERS),
        ("search", {"query": "x", "top_k": 1001}, 422, 1000),
        ("search", {"query": "x", "top_k": 0}, 422, 1),
    ],
    ids=range(8),
)
async def test_beyond_a_limit_nothing_is_stored_and_the_limit_is_told(
    client: httpx.AsyncClient, path: str, changes: dict[str, Any], status: int, limit: int
) -> None:
    answer = await client.post(f"{FLAT}/{path}", json=fact(type="semantic", **changes))

    assert answer.status_code == status
    assert str(limit) in answer.json()["error"]
    assert (await client.get(f"{FLAT}/semantic")).json()["entries"] == []


@pytest.mark.parametrize("character", ["\x00", "\n", "\x1f", "\x7f"])
@pytest.mark.parametrize("field", ["user_id", "session_id", "agent_id", "idempotency_key"])
async def test_ids_have_no_control_characters(
    client: httpx.AsyncClient, field: str, character: str
) -> None:
    turn = {"session_id": "s", "role": "user", "content": "x", field: f"a{character}b"}

    answer = await client.post(f"{FLAT}/turns", json=turn)

    assert answer.status_code == 422
    assert field in answer.json()["error"]


@pytest.mark.parametrize("user", ["a/b", "a b", "Ω👩‍👩‍👧", "a'--", "%2e%2e", "*", "$ne"])
async def test_ids_have_any_other_character(client: httpx.AsyncClient, user: str) -> None:
    assert (await client.post(f"{FLAT}/semantic", json=fact(user_id=user))).status_code == 201

    found = await client.get(f"{FLAT}/semantic", params={"user_id": user})

    assert [entry["user_id"] for entry in found.json()["entries"]] == [user]


async def test_a_number_beyond_a_float_is_refused(
    client: httpx.AsyncClient, application: Application
) -> None:
    content = b'{"label": "l", "text": "t", "metadata": {"a": 1e400}}'

    answer = await client.post(
        f"{FLAT}/semantic", content=content, headers={"content-type": "application/json"}
    )

    assert answer.status_code == 422
    assert "metadata" in answer.json()["error"]
