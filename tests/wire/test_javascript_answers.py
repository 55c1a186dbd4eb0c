"""What the JavaScript SDK makes of answers beyond their shapes."""

from typing import Any

import httpx
import pytest

from memory_server.api.families import FLAT


def post(http: httpx.Client, path: str, body: dict[str, Any]) -> Any:
    answer = http.post(f"{FLAT}/{path}", json=body)
    assert answer.is_success, answer.text
    return answer.json()


def test_a_turn_that_nothing_ranked_has_no_score_rather_than_null(
    http: httpx.Client, user: str
) -> None:
    turn = {"session_id": user, "user_id": user, "role": "user", "content": "a pump"}
    post(http, "turns", turn)
    asked = {"query": "x", "user_id": user, "session_id": user, "include_memories": True}

    [chunk] = post(http, "context", asked | {"enabled_sources": ["stm"]})["selected_memories"]

    assert chunk.keys() == {"id", "content", "source", "timestamp", "metadata"}


def test_a_procedure_is_named_within_its_metadata(http: httpx.Client, user: str) -> None:
    body = {"procedure": "p", "description": "a pump", "content": "c", "user_id": user}
    saved = post(http, "procedural", body)

    for path in ("search", "retrieval/procedural"):
        [found] = post(http, path, {"type": "procedural", "query": "pump", "user_id": user})[
            "memories"
        ]
        told = found["metadata"]
        assert (told["procedure"], told["id"]) == ("p", saved["id"])
        assert told["timestamp"] == found["timestamp"]


@pytest.mark.parametrize("half", [r"\ud83d", r"\ude00", r"\ud83d\u0041", r"\ud83d\n"])
@pytest.mark.parametrize("path", ["turns", "search"])
def test_half_an_emoji_is_refused_as_what_it_is(http: httpx.Client, path: str, half: str) -> None:
    body = f'{{"session_id": "s", "role": "user", "content": "{half}"}}'

    refused = http.post(
        f"{FLAT}/{path}", content=body, headers={"Content-Type": "application/json"}
    )

    assert refused.status_code == 422
    assert "half a surrogate pair" in refused.json()["error"]


@pytest.mark.parametrize("broken", ["{", '{"a": "\\u12zz"}', '{"a": "\\x"}', "[1,]"])
def test_other_broken_json_is_not_called_so(http: httpx.Client, broken: str) -> None:
    refused = http.post(
        f"{FLAT}/search", content=broken, headers={"Content-Type": "application/json"}
    )

    assert refused.json()["error"] == "the body is not valid JSON"
