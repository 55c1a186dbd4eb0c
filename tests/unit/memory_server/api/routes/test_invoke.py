import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any

import httpx
import pytest

from memory_server.application import Application
from memory_server.domain.chunk import Chunk
from memory_server.domain.past_questions import PastQuestion
from memory_server.domain.turn import Turn
from memory_server.errors import ProviderUnavailable
from memory_server.ports.agent import AgentCall, AgentEvent, AgentEventKind
from memory_server.ports.answerer import Answerer
from memory_server.providers.agents.builtin import BuiltInAgent
from tests.unit.memory_server.api.routes.test_accounts import make, token

INVOKE = "/api/v1/projects/shop/workspaces/main/invoke"
STREAM = f"{INVOKE}Stream"
ASK = {"message": "Where do I live?", "user_id": "ana"}


class BrokenAnswerer(Answerer):
    """Says a number of pieces, then fails."""

    def __init__(self, *pieces: str) -> None:
        self._pieces = pieces

    @property
    def name(self) -> str:
        return "broken"

    async def answer(
        self,
        message: str,
        *,
        context: str,
        chunks: Sequence[Chunk],
        recent: Sequence[Turn],
        past: PastQuestion | None = None,
    ) -> AsyncIterator[str]:
        for piece in self._pieces:
            yield piece
        raise ProviderUnavailable("the model is away")


def break_answers(application: Application, *pieces: str) -> None:
    application.invocation._agent = BuiltInAgent(BrokenAnswerer(*pieces))


@pytest.fixture
async def client(client: httpx.AsyncClient) -> httpx.AsyncClient:
    """A caller of a server that knows where Ana lives."""
    fact = {"label": "home", "text": "Ana lives in Oslo", "user_id": "ana"}
    await client.post("/api/v1/memory/semantic", json=fact)
    return client


async def account_of(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> tuple[str, dict[str, str]]:
    made = await make(client, owner)
    bearer = (await token(client, made)).json()["access_token"]
    return made["service_account"]["client_id"], {"Authorization": f"Bearer {bearer}"}


async def frames(client: httpx.AsyncClient, owner: dict[str, str]) -> list[dict[str, Any]]:
    async with client.stream("POST", STREAM, json=ASK, headers=owner) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = [line async for line in answer.aiter_lines() if line]
    assert all(line.startswith("data: ") for line in lines)
    return [json.loads(line.removeprefix("data: ")) for line in lines]


async def test_the_agent_answers_from_memory(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    answer = await client.post(INVOKE, json=ASK | {"session_id": "s_1"}, headers=owner)

    body = answer.json()
    assert "Oslo" in body["response"]
    assert (body["success"], body["status"]) == (True, "completed")
    assert body["session_id"] == answer.headers["x-session-id"] == "s_1"
    assert body["identity"] == {
        "kind": "owner",
        "user_id": "ana",
        "overridden": False,
        "delegated": False,
    }
    assert (body["user_id"], body["warnings"], body["answered_by"]) == ("ana", [], "local")
    assert body["context"]["memory_counts"] == {"semantic": 1}
    assert body["execution_id"]


async def test_without_a_session_a_new_one_is_begun(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    first, second = [await client.post(INVOKE, json=ASK, headers=owner) for _ in range(2)]

    assert first.headers["x-session-id"] != second.headers["x-session-id"]


async def test_what_was_said_a_moment_ago_is_counted_as_recalled(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    ask = ASK | {"user_id": "ben", "session_id": "s_1"}
    first, second = [
        (await client.post(INVOKE, json=ask, headers=owner)).json()["context"] for _ in range(2)
    ]

    assert first == {"token_count": 0, "memory_counts": {}}
    assert second["memory_counts"] == {"stm": 2}
    assert second["token_count"] > 0


async def test_a_service_account_is_itself_the_memory_identity(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    client_id, bearer = await account_of(client, owner)

    body = (await client.post(INVOKE, json=ASK, headers=bearer)).json()

    assert body["identity"] == {
        "kind": "service_account",
        "user_id": client_id,
        "overridden": True,
        "delegated": False,
    }
    assert "Oslo" not in body["response"]
    assert "user_id is ignored" in body["warnings"][0]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"message": " "}, "message"),
        ({"user_id": None}, "user_id"),
        ({"session_id": "a b"}, "session_id"),
    ],
)
@pytest.mark.parametrize("path", [INVOKE, STREAM])
async def test_an_invocation_that_makes_no_sense_is_refused(
    client: httpx.AsyncClient,
    owner: dict[str, str],
    path: str,
    changes: dict[str, Any],
    said: str,
) -> None:
    answer = await client.post(path, json=ASK | changes, headers=owner)

    assert answer.status_code == 400
    assert said in answer.json()["error"]


async def test_an_invocation_needs_a_token(client: httpx.AsyncClient) -> None:
    assert (await client.post(INVOKE, json=ASK)).status_code == 401


async def test_a_streamed_answer_ends_with_its_outcome(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    *texts, done = await frames(client, owner)

    assert {frame["chunk_type"] for frame in texts} == {"text"}
    assert "Oslo" in "".join(frame["content"] for frame in texts)
    assert all(set(one) == {"chunk_type", "content", "metadata", "execution_id"} for one in texts)
    assert done["chunk_type"] == "done"
    assert done["metadata"]["user_id"] == "ana"
    assert done["execution_id"] == done["metadata"]["execution_id"]


async def test_a_failure_before_the_first_piece_has_its_own_status(
    client: httpx.AsyncClient, application: Application, owner: dict[str, str]
) -> None:
    break_answers(application)

    answers = [await client.post(path, json=ASK, headers=owner) for path in (INVOKE, STREAM)]

    assert [answer.status_code for answer in answers] == [503, 503]
    assert answers[1].json()["code"] == "PROVIDER_UNAVAILABLE"


async def test_a_failure_after_the_first_piece_is_a_frame(
    client: httpx.AsyncClient, application: Application, owner: dict[str, str]
) -> None:
    break_answers(application, "You live ")

    text, error = await frames(client, owner)

    assert (text["content"], error["chunk_type"]) == ("You live ", "error")
    assert (error["content"], error["metadata"]["code"]) == (
        "the model is away",
        "PROVIDER_UNAVAILABLE",
    )


class Attentive(BuiltInAgent):
    """Keeps what it was told, and tells steps and text."""

    def __init__(self) -> None:
        super().__init__(BrokenAnswerer())
        self.calls: list[AgentCall] = []

    async def answer(self, call: AgentCall) -> AsyncGenerator[AgentEvent]:
        self.calls.append(call)
        yield AgentEvent(
            kind=AgentEventKind.STEP, text="looked", metadata={"step_number": 1, "tool_name": "t"}
        )
        yield AgentEvent(kind=AgentEventKind.TEXT, text="found")


@pytest.fixture
def attentive(application: Application) -> Attentive:
    application.invocation._agent = agent = Attentive()
    return agent


async def test_payload_and_own_headers_reach_the_agent_and_nothing_else_does(
    client: httpx.AsyncClient,
    owner: dict[str, str],
    attentive: Attentive,
    caplog: pytest.LogCaptureFixture,
) -> None:
    own = {"X-Mdb-Agent-Engine-Custom-Tenant": "the-tenant-of-ana"}

    with caplog.at_level("DEBUG"):
        await client.post(INVOKE, json=ASK | {"payload": {"a": 1}}, headers=owner | own)

    [call] = attentive.calls
    assert (call.payload, call.headers) == ({"a": 1}, {"tenant": "the-tenant-of-ana"})
    assert "the-tenant-of-ana" not in caplog.text + repr(call)
    stored = {"query": "a", "user_id": "ana", "enabled_sources": ["stm"], "session_id": "s1"}
    found = await client.post("/api/v1/memory/context", json=stored)
    assert "the-tenant-of-ana" not in found.text


async def test_steps_are_frames_and_no_part_of_the_answer(
    client: httpx.AsyncClient, owner: dict[str, str], attentive: Attentive
) -> None:
    step, text, _ = await frames(client, owner)
    whole = (await client.post(INVOKE, json=ASK, headers=owner)).json()

    assert (step["chunk_type"], step["content"]) == ("step", "looked")
    assert step["metadata"] == {"step_number": 1, "tool_name": "t"}
    assert text["content"] == whole["response"] == "found"


async def test_a_local_step_has_its_number_and_tool(
    client: httpx.AsyncClient, attentive: Attentive
) -> None:
    answer = await client.post("/invoke/stream", json=ASK)

    first = json.loads(answer.text.splitlines()[0].removeprefix("data: "))
    assert (first["chunk_type"], first["step_number"], first["tool_name"]) == ("step", 1, "t")


async def test_delegation_is_a_setting_of_the_project(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    _, bearer = await account_of(client, owner)
    setting = {"allow_delegation": True}
    await client.patch("/api/v1/projects/shop", json=setting, headers=owner)

    body = (await client.post(INVOKE, json=ASK, headers=bearer)).json()

    assert body["identity"] == {
        "kind": "service_account",
        "user_id": "ana",
        "overridden": False,
        "delegated": True,
    }
    assert "Oslo" in body["response"]
    assert body["warnings"] == []


async def test_readiness_tells_how_the_agent_stands(client: httpx.AsyncClient) -> None:
    agent = (await client.get("/ready")).json()["agent"]

    assert agent == {"name": "local", "status": "ready", "problem": None}
