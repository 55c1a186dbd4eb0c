import httpx
import pytest

from memory_server.application import Application
from memory_server.domain.limits import MAX_CONTENT_BYTES
from memory_server.domain.scope import Scope

TURNS = "/api/v1/memory/turns"


def a_turn(**changes: object) -> dict[str, object]:
    return {"session_id": "s", "user_id": "ana", "role": "user", "content": "hi"} | changes


async def test_a_turn_is_answered_with_its_number(client: httpx.AsyncClient) -> None:
    answers = [await client.post(TURNS, json=a_turn()) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [201, 201]
    assert [answer.json()["turn_seq"] for answer in answers] == [1, 2]
    assert answers[0].json() == {
        "id": answers[0].json()["id"],
        "session_id": "s",
        "turn_seq": 1,
        "acknowledged": True,
        "has_embedding": True,
        "duplicate": False,
    }


async def test_a_repeated_turn_is_told_to_be_one(client: httpx.AsyncClient) -> None:
    first, again = [
        (await client.post(TURNS, json=a_turn(idempotency_key="k"))).json() for _ in range(2)
    ]

    assert (first["duplicate"], again["duplicate"]) == (False, True)
    assert again["id"] == first["id"]


async def test_a_turn_is_stored_as_it_was_said(
    client: httpx.AsyncClient, application: Application
) -> None:
    await client.post(TURNS, json=a_turn(content="naïve 東京 🍣\n\t{{x}}"))

    [turn] = await application.store.turns.recent(
        Scope(project_id="shop", user_id="ana", session_id="s"), limit=5
    )

    assert turn.content == "naïve 東京 🍣\n\t{{x}}"


@pytest.mark.parametrize(
    ("changes", "status", "said"),
    [
        ({"session_id": ""}, 400, "session_id"),
        ({"content": "  "}, 400, "content"),
        ({"role": "tool", "content": "42"}, 400, "tool_call_id"),
        ({"role": "assistant", "content": None}, 400, "tool_calls"),
        ({"content": "x" * (MAX_CONTENT_BYTES + 1)}, 413, str(MAX_CONTENT_BYTES)),
    ],
)
async def test_a_turn_that_cannot_be_recorded_stores_nothing(
    client: httpx.AsyncClient, changes: dict[str, object], status: int, said: str
) -> None:
    refused = await client.post(TURNS, json=a_turn(**changes))
    stored = await client.post(TURNS, json=a_turn())

    assert refused.status_code == status
    assert said in refused.json()["error"]
    assert stored.json()["turn_seq"] == 1


@pytest.mark.parametrize("content_type", ["text/plain", "", "application/x-www-form-urlencoded"])
async def test_a_turn_that_another_sites_page_could_send_is_refused(
    client: httpx.AsyncClient, content_type: str
) -> None:
    body = b'{"session_id": "s", "role": "user", "content": "x"}'

    answer = await client.post(TURNS, content=body, headers={"content-type": content_type})

    assert answer.status_code == 400


async def test_a_charset_in_the_content_type_is_accepted(client: httpx.AsyncClient) -> None:
    body = b'{"session_id": "s", "role": "user", "content": "x"}'
    headers = {"content-type": "application/json; charset=utf-8"}

    assert (await client.post(TURNS, content=body, headers=headers)).status_code == 201
