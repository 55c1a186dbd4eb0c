import json

import httpx

ASK = {"message": "Where do I live?", "user_id": "ana", "thread_id": "t1"}


async def test_a_local_caller_needs_no_token_and_gets_the_local_form(
    client: httpx.AsyncClient,
) -> None:
    answer = await client.post("/invoke", json=ASK)

    body = answer.json()
    assert answer.status_code == 200
    assert set(body) >= {"execution_id", "result", "status", "thread_id", "user_id", "error"}
    assert (body["status"], body["thread_id"], body["user_id"]) == ("completed", "t1", "ana")
    assert (body["error"], answer.headers["X-Session-ID"]) == (None, "t1")
    assert answer.headers["X-Execution-ID"] == body["execution_id"]


async def test_a_session_id_goes_before_a_thread_id(client: httpx.AsyncClient) -> None:
    answer = await client.post("/invoke", json=ASK | {"session_id": "s1"})

    assert answer.json()["thread_id"] == "s1"


async def test_a_local_stream_has_the_local_frames(client: httpx.AsyncClient) -> None:
    async with client.stream("POST", "/invoke/stream", json=ASK) as answer:
        lines = [line async for line in answer.aiter_lines() if line]
    frames = [json.loads(line.removeprefix("data: ")) for line in lines]

    assert answer.headers["X-Session-ID"] == "t1"
    assert [frame["chunk_type"] for frame in frames][-1] == "done"
    assert set(frames[0]) == {
        "chunk_type",
        "content",
        "error",
        "execution_id",
        "metadata",
        "step_number",
        "tool_call_id",
        "tool_name",
    }
    assert {frame["execution_id"] for frame in frames} == {answer.headers["X-Execution-ID"]}


async def test_an_invocation_without_a_user_is_refused(client: httpx.AsyncClient) -> None:
    answer = await client.post("/invoke", json={"message": "hi"})

    assert answer.status_code == 400
    assert "user_id" in answer.json()["error"]
