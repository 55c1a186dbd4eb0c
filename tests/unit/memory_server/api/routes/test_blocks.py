from collections.abc import Mapping
from typing import Any

import httpx

BLOCKS = "/api/v1/memory/blocks"
FAMILIES = ["/api/v1/memory", "/api/v1/projects/shop/memory", "/api/v1"]


def said(role: str, content: str, **metadata: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "metadata": metadata}


ASKED = said("user", "I adopted a greyhound called Pixel", speaker="Ana", date="2023-05-08")
ANSWERED = said("assistant", "How lovely! Is he fast?", speaker="Ben")


async def record(
    client: httpx.AsyncClient, *messages: Mapping[str, Any], **body: Any
) -> dict[str, Any]:
    given = {"user_id": "ana", "conversation_id": "c1", "messages": [*messages], **body}
    answer = await client.post(BLOCKS, json=given)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


async def found(client: httpx.AsyncClient, query: str, **body: Any) -> list[dict[str, Any]]:
    given = {"user_id": "ana", "query": query, **body}
    answer = await client.post(f"{BLOCKS}/search", json=given)
    assert answer.status_code == 200, answer.text
    assert answer.json()["count"] == len(answer.json()["blocks"])
    return list(answer.json()["blocks"])


async def listed(client: httpx.AsyncClient, **query: Any) -> list[dict[str, Any]]:
    answer = await client.get(BLOCKS, params={"user_id": "ana", **query})
    assert answer.status_code == 200, answer.text
    return list(answer.json()["blocks"])


async def test_an_exchange_becomes_a_block_of_each_viewpoint(client: httpx.AsyncClient) -> None:
    receipt = await record(client, ASKED, ANSWERED, annotations={"mood": "glad"})

    (exchange,) = receipt["exchanges"]
    assert [(one["viewpoint"], one["speaker"]) for one in exchange["blocks"]] == [
        ("user", "Ana"),
        ("assistant", "Ben"),
    ]
    block = exchange["blocks"][0]
    assert block["message"] == (
        "Ana: I adopted a greyhound called Pixel\nBen: How lovely! Is he fast?"
    )
    assert block["annotations"] == {"mood": "glad", "time": "8 May 2023", "conversation_id": "c1"}
    assert (block["summary"], block["contexts"], block["extraction"]) == ("", [], "none")
    assert (receipt["count"], receipt["duplicate"], receipt["extraction"]) == (1, False, "none")
    assert list(receipt["timing"]) == ["validate", "embed", "write"]


async def test_a_search_finds_each_exchange_once(client: httpx.AsyncClient) -> None:
    await record(client, ASKED, ANSWERED, said("user", "Very fast"), said("assistant", "Good"))

    blocks = await found(client, "greyhound")
    of_assistant = await found(client, "greyhound", viewpoint="assistant")

    assert len({one["exchange_id"] for one in blocks}) == len(blocks)
    assert blocks[0]["message"].startswith("Ana: I adopted")
    assert {one["viewpoint"] for one in of_assistant} == {"assistant"}
    assert of_assistant[0]["exchange_id"] == blocks[0]["exchange_id"]
