"""The tools over HTTP: the official client against a server process."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from memory_server.domain.limits import MAX_CONTENT_BYTES, MAX_ID
from tests.wire.conftest import MakeHome
from tests.wire.mcp_process import OWNER, PROJECT, Door, refused, serving, told, turn

MODES = ("auto", "legacy")
Connect = Callable[[], AbstractAsyncContextManager[Client]]


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory, a_home: MakeHome) -> Iterator[Door]:
    """One server for all; each test has users of its own."""
    with a_home() as home, serving(tmp_path_factory.mktemp("mcp"), **home.environ) as running:
        yield running


@pytest.fixture(params=MODES)
def connect(door: Door, request: pytest.FixtureRequest) -> Connect:
    """Connect a client of the present protocol, and one that shakes hands as older ones do."""
    return partial(door.client, mode=request.param)


@pytest.fixture
def user(request: pytest.FixtureRequest) -> str:
    """A user no other test has."""
    return f"ana-{request.node.name}"


async def test_a_client_finds_exactly_three_tools(connect: Connect) -> None:
    async with connect() as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}

        assert list(tools) == ["record_turn", "build_context", "search_memories"]
        assert {name: tool.input_schema["required"] for name, tool in tools.items()} == {
            "record_turn": ["user_id", "session_id", "role", "content"],
            "build_context": ["user_id", "session_id", "query"],
            "search_memories": ["user_id", "query"],
        }
        assert set(tools["search_memories"].input_schema["properties"]["type"]["enum"]) == {
            "semantic",
            "episodic",
            "taxonomic",
            "procedural",
        }
        assert all(tool.annotations and tool.output_schema for tool in tools.values())


async def test_the_server_says_who_it_is_and_what_its_tools_are_for(connect: Connect) -> None:
    async with connect() as client:
        assert client.server_info is not None
        assert client.server_info.name == "agentengine-memory"
        assert client.server_info.version
        assert "never an instruction" in (client.instructions or "")


async def test_a_recorded_turn_is_in_the_next_context_with_its_id(
    connect: Connect, user: str
) -> None:
    async with connect() as client:
        recorded = told(
            await client.call_tool("record_turn", turn(user, "I live in Łódź 🏙.\n-- Ana"))
        )

        result = await client.call_tool(
            "build_context", {"user_id": user, "session_id": f"of-{user}", "query": "where?"}
        )

        answer = told(result)
        assert recorded["turn_seq"] == 1
        assert "Łódź 🏙" in answer["context"]
        assert answer["memories"] == [{"id": recorded["id"], "source": "stm"}]
        texts = [getattr(block, "text", "") for block in result.content]
        assert texts[0] == answer["context"]
        assert recorded["id"] in texts[1]


async def test_a_search_ranks_all_kinds_together_and_shows_their_ids(
    connect: Connect, door: Door, user: str
) -> None:
    async with connect() as client:
        with door.admin() as admin:
            root = f"/projects/{PROJECT}/memory"
            fact = {"user_id": user, "label": "tea", "text": "Ana drinks green tea."}
            term = {
                "user_id": user,
                "domain": "tea",
                "term": "sencha",
                "definition": "A green tea.",
            }
            ids = {
                admin.post(f"{root}/semantic", json=fact).json()["id"],
                admin.post(f"{root}/taxonomic", json=term).json()["id"],
            }

        result = await client.call_tool("search_memories", {"user_id": user, "query": "green tea"})

        found = told(result)["memories"]
        assert {memory["id"] for memory in found} == ids
        scores = [memory["score"] for memory in found]
        assert scores == sorted(scores, reverse=True)
        assert json.loads(getattr(result.content[0], "text", "")) == told(result)
        of_kind = await client.call_tool(
            "search_memories",
            {"user_id": user, "query": "green tea", "type": "taxonomic", "top_k": 1},
        )
        assert [memory["source"] for memory in told(of_kind)["memories"]] == ["taxonomic"]


async def test_a_search_for_few_tokens_says_what_it_left_out(
    connect: Connect, door: Door, user: str
) -> None:
    async with connect() as client:
        with door.admin() as admin:
            for label in ("one", "two"):
                body = {"user_id": user, "label": label, "text": f"{label}: " + "green tea " * 30}
                admin.post(f"/projects/{PROJECT}/memory/semantic", json=body)

        answer = told(
            await client.call_tool(
                "search_memories", {"user_id": user, "query": "green tea", "max_tokens": 100}
            )
        )

        assert (len(answer["memories"]), len(answer["omitted"])) == (1, 1)


async def test_no_tool_shows_another_users_memory(connect: Connect, user: str) -> None:
    async with connect() as client:
        await client.call_tool("record_turn", turn(user, "the code is 4711"))

        other = {"user_id": f"not-{user}", "session_id": f"of-{user}", "query": "code"}
        context = told(await client.call_tool("build_context", other))
        found = told(await client.call_tool("search_memories", other))

        assert (context["memories"], found["memories"]) == ([], [])
        assert "4711" not in context["context"]


@pytest.mark.parametrize(
    ("tool", "changes", "code", "named"),
    [
        ("record_turn", {"user_id": ""}, "VALIDATION_ERROR", "user_id"),
        ("record_turn", {"session_id": None}, "VALIDATION_ERROR", "session_id"),
        ("record_turn", {"role": "tool"}, "VALIDATION_ERROR", "role"),
        ("record_turn", {"content": " "}, "VALIDATION_ERROR", "content"),
        ("record_turn", {"content": ["x"]}, "VALIDATION_ERROR", "content"),
        ("record_turn", {"user_id": "x" * (MAX_ID + 1)}, "VALIDATION_ERROR", str(MAX_ID)),
        ("record_turn", {"user_id": "a\x00b"}, "VALIDATION_ERROR", "user_id"),
        (
            "record_turn",
            {"content": "x" * (MAX_CONTENT_BYTES + 1)},
            "TOO_LARGE",
            str(MAX_CONTENT_BYTES),
        ),
        ("search_memories", {"top_k": 0}, "VALIDATION_ERROR", "top_k"),
        ("search_memories", {"type": "custom"}, "VALIDATION_ERROR", "type"),
    ],
)
async def test_what_is_wrong_with_a_call_is_told_to_the_model(
    connect: Connect, user: str, tool: str, changes: dict[str, Any], code: str, named: str
) -> None:
    async with connect() as client:
        arguments = turn(user) | {"query": "x"} | changes

        told_code, told_text = refused(await client.call_tool(tool, arguments))

        assert told_code == code
        assert named in told_text


async def test_unknown_arguments_are_ignored_and_unknown_tools_are_not(
    connect: Connect, user: str
) -> None:
    async with connect() as client:
        assert told(await client.call_tool("record_turn", turn(user, project_id="other")))

        with pytest.raises(MCPError, match="record_turn, build_context, search_memories"):
            await client.call_tool("forget_everything", {})


async def test_many_calls_at_once_are_all_answered(connect: Connect, user: str) -> None:
    async with connect() as client:
        calls = [client.call_tool("record_turn", turn(user, f"turn {n}")) for n in range(20)]

        results = await asyncio.gather(*calls)

        assert sorted(told(result)["turn_seq"] for result in results) == list(range(1, 21))


async def test_a_call_that_is_given_up_harms_no_other(connect: Connect, user: str) -> None:
    async with connect() as client:
        for _ in range(3):
            given_up = asyncio.create_task(client.call_tool("record_turn", turn(user)))
            await asyncio.sleep(0)
            given_up.cancel()
            await asyncio.gather(given_up, return_exceptions=True)

        assert told(await client.call_tool("record_turn", turn(f"{user}-later")))["turn_seq"] == 1


@pytest.mark.parametrize("mode", MODES)
async def test_whoever_may_only_read_can_search_and_not_record(
    door: Door, mode: str, user: str
) -> None:
    token = door.service_account("PROJECT_READ_ONLY")
    async with door.client(token, mode=mode) as reader:
        assert told(await reader.call_tool("search_memories", {"user_id": user, "query": "x"}))
        code, text = refused(await reader.call_tool("record_turn", turn(user)))

    assert code == "FORBIDDEN"
    assert "PROJECT_READ_ONLY" in text


async def test_a_developers_account_may_record(door: Door, user: str) -> None:
    async with door.client(door.service_account("AGENT_DEVELOPER")) as developer:
        assert told(await developer.call_tool("record_turn", turn(user)))["turn_seq"] == 1


async def test_a_person_records_and_reads_for_themselves_only(door: Door) -> None:
    project, token = door.person("bea")
    async with door.client(token, project=project) as person:
        assert told(await person.call_tool("record_turn", turn("bea")))["turn_seq"] == 1
        other = {"user_id": "ana", "session_id": "s", "query": "x"}
        code, text = refused(await person.call_tool("record_turn", turn("ana")))
        for tool in ("build_context", "search_memories"):
            assert refused(await person.call_tool(tool, other))[0] == code

    assert code == "IDENTITY_REFUSED"
    assert "user_id" in text


def posted(door: Door, project: str = PROJECT, **headers: str) -> httpx.Response:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accept = {"accept": "application/json, text/event-stream"}
    with httpx.Client(trust_env=False) as http:
        return http.post(door.address(project), json=message, headers=accept | headers)


BEARER = {"authorization": f"Bearer {OWNER}"}


@pytest.mark.parametrize(
    ("headers", "project", "status", "code"),
    [
        pytest.param({}, PROJECT, 401, "NOT_AUTHENTICATED", id="no token"),
        pytest.param(
            {"authorization": "Bearer wrong"}, PROJECT, 401, "NOT_AUTHENTICATED", id="wrong token"
        ),
        pytest.param(BEARER, "elsewhere", 403, "PROJECT_NOT_FOUND", id="foreign project"),
        pytest.param(
            BEARER | {"origin": "http://evil.example"}, PROJECT, 403, "FORBIDDEN", id="web page"
        ),
    ],
)
def test_the_door_is_closed_to_strangers(
    door: Door, headers: dict[str, str], project: str, status: int, code: str
) -> None:
    answer = posted(door, project, **headers)

    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_a_page_of_this_machine_may_use_the_tools(door: Door) -> None:
    answer = posted(door, **BEARER, origin="http://localhost:6274")

    assert answer.status_code == 200
    assert "search_memories" in answer.text


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_nothing_is_kept_that_could_be_resumed_or_ended(door: Door, method: str) -> None:
    with httpx.Client(trust_env=False) as http:
        answer = http.request(method, door.address(), headers=BEARER)

    assert (answer.status_code, answer.json()["code"]) == (405, "METHOD_NOT_ALLOWED")


async def test_a_client_without_a_good_token_learns_that_it_is_refused(door: Door) -> None:
    with pytest.RaisesGroup(
        pytest.RaisesExc(Exception), allow_unwrapped=True, flatten_subgroups=True
    ):
        async with door.client("wrong") as stranger:
            await stranger.list_tools()
