import json
from collections.abc import Callable, Iterable
from typing import Any

import httpx
import pytest

from memory_server import errors
from memory_server.client import MemoryServerClient, ServerTimeout, ServerUnreachable
from memory_server.client.transport import CLASSES, is_loopback

Answer = httpx.Response | type[httpx.TransportError]
RECEIPT = {"id": "t1", "session_id": "s", "turn_seq": 1, "acknowledged": True}
TURN: dict[str, Any] = {"session_id": "s", "role": "user", "content": "Hi"}


class Wire:
    """Answers as told, and remembers what was asked and how long was waited."""

    def __init__(self, answers: Iterable[Answer]) -> None:
        self._answers = iter(answers)
        self.requests: list[httpx.Request] = []
        self.waits: list[float] = []

    def client(self, **options: Any) -> MemoryServerClient:
        transport = httpx.MockTransport(self._answer)
        url = "http://127.0.0.1:1/"
        return MemoryServerClient(url, transport=transport, sleep=self._wait, **options)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = next(self._answers)
        if isinstance(answer, httpx.Response):
            return answer
        raise answer("no", request=request)

    async def _wait(self, seconds: float) -> None:
        self.waits.append(seconds)


def answers(*given: Answer) -> Wire:
    return Wire(given)


def ok(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> httpx.Response:
    return httpx.Response(status, json=body, headers=headers)


@pytest.mark.parametrize("code", sorted(CLASSES))
async def test_every_code_becomes_its_own_class_again(code: str) -> None:
    wire = answers(ok({"code": code, "error": "why", "detail": "why", "request_id": "r1"}, 400))

    async with wire.client() as client:
        with pytest.raises(CLASSES[code], match="why") as raised:
            await client.health()

    assert type(raised.value).code == code
    assert raised.value.details["request_id"] == "r1"


@pytest.mark.parametrize(
    ("response", "said"),
    [
        pytest.param(ok({"code": "NEW_CODE", "error": "why"}, 400), "why", id="unknown-code"),
        pytest.param(ok({"detail": "Not Found"}, 404), "Not Found", id="no-code"),
        pytest.param(ok({"detail": [1]}, 422), "HTTP 422", id="no-text"),
        pytest.param(ok({"code": ["x"], "error": "why"}, 400), "why", id="odd-code"),
        pytest.param(httpx.Response(500, text="<h1>Oh\n no"), "HTTP 500: <h1>Oh no", id="html"),
        pytest.param(httpx.Response(500), "HTTP 500", id="empty"),
        pytest.param(ok([1]), "expected a JSON object", id="list"),
        pytest.param(httpx.Response(200, text="{"), "expected a JSON object", id="half"),
    ],
)
async def test_anything_unknown_is_the_root_of_the_tree(
    response: httpx.Response, said: str
) -> None:
    async with answers(response).client() as client:
        with pytest.raises(errors.MemoryServerError) as raised:
            await client.health()

    assert type(raised.value) is errors.MemoryServerError
    assert said in str(raised.value)


async def test_an_answer_without_what_it_must_have_is_an_error() -> None:
    async with answers(ok({"queued": 1})).client() as client:
        with pytest.raises(errors.MemoryServerError, match="has no running, failed"):
            await client.queue_stats()


@pytest.mark.parametrize(
    "trouble",
    [
        httpx.ConnectError,
        httpx.ReadError,
        httpx.RemoteProtocolError,
        httpx.Response(502),
        httpx.Response(503),
        httpx.Response(504),
    ],
    ids=str,
)
async def test_a_read_is_tried_three_times_and_waits_longer_each_time(trouble: Answer) -> None:
    wire = answers(trouble, trouble, ok({"status": "ok"}))

    async with wire.client() as client:
        assert await client.health() == {"status": "ok"}

    assert wire.waits == [0.2, 0.4]


async def test_a_turn_is_tried_again_under_the_same_key() -> None:
    wire = answers(httpx.Response(503), httpx.ReadTimeout, ok(RECEIPT, 201))

    async with wire.client() as client:
        receipt = await client.record_turn(**TURN)

    keys = {json.loads(request.content)["idempotency_key"] for request in wire.requests}
    assert (receipt["turn_seq"], len(wire.requests), len(keys)) == (1, 3, 1)


async def test_two_turns_without_a_key_of_the_callers_have_different_ones() -> None:
    wire = answers(ok(RECEIPT, 201), ok(RECEIPT, 201))

    async with wire.client() as client:
        await client.record_turn(**TURN)
        await client.record_turn(**TURN)

    first, second = (json.loads(request.content)["idempotency_key"] for request in wire.requests)
    assert first != second


@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.flush(),
        lambda client: client.retry_job("j"),
        lambda client: client.invoke("Hi"),
        lambda client: client.token("id", "secret"),
        lambda client: client.create_account(name="n", role="PROJECT_OWNER"),
        lambda client: client.rotate_account("id"),
        lambda client: client.delete_account("id"),
        lambda client: client.erase("ana"),
    ],
    ids=["flush", "retry", "invoke", "token", "create", "rotate", "delete", "erase"],
)
async def test_what_is_not_idempotent_is_never_sent_twice(
    call: Callable[[MemoryServerClient], Any],
) -> None:
    wire = answers(httpx.Response(503))

    async with wire.client() as client:
        with pytest.raises(errors.MemoryServerError):
            await call(client)

    assert (len(wire.requests), wire.waits) == (1, [])


async def test_a_refusal_is_not_tried_again() -> None:
    wire = answers(ok({"code": "TOO_LARGE", "error": "no"}, 413))

    async with wire.client() as client:
        with pytest.raises(errors.TooLarge):
            await client.record_turn(**TURN)

    assert len(wire.requests) == 1


async def test_the_server_may_ask_for_a_longer_wait_but_not_for_any_length() -> None:
    wire = answers(
        httpx.Response(503, headers={"retry-after": "2"}),
        httpx.Response(503, headers={"retry-after": "9999"}),
        ok({}),
    )

    async with wire.client() as client:
        await client.health()

    assert wire.waits == [2.0, 5.0]


@pytest.mark.parametrize(
    ("trouble", "raised"),
    [
        (httpx.ConnectError, ServerUnreachable),
        (httpx.ConnectTimeout, ServerUnreachable),
        (httpx.RemoteProtocolError, ServerUnreachable),
        (httpx.ReadTimeout, ServerTimeout),
    ],
)
async def test_a_failing_connection_is_told_with_the_address(
    trouble: type[httpx.TransportError], raised: type[OSError]
) -> None:
    async with answers(trouble, trouble, trouble).client() as client:
        with pytest.raises(raised, match=r"http://127\.0\.0\.1:1"):
            await client.health()


async def test_ids_travel_as_one_path_segment() -> None:
    wire = answers(ok(RECEIPT, 201), ok({"client_id": "x"}), ok({}))

    async with wire.client(project_id="a/b c") as client:
        await client.record_turn(**TURN)
        await client.account("../x")
        await client.retry_job("j?1")

    paths = [request.url.raw_path.decode() for request in wire.requests]
    assert paths == [
        "/api/v1/projects/a%2Fb%20c/memory/turns",
        "/api/v1/projects/a%2Fb%20c/service-accounts/..%2Fx",
        "/api/v1/admin/jobs/j%3F1/retry",
    ]


async def test_a_block_is_read_by_its_id() -> None:
    wire = answers(ok({"id": "a/b", "message": "Hi"}), ok({"id": "a/b"}))

    async with wire.client() as client:
        assert (await client.blocks.get("a/b"))["message"] == "Hi"
        with pytest.raises(errors.MemoryServerError):
            await client.blocks.get("a/b")

    assert wire.requests[0].url.raw_path == b"/api/v1/projects/local/memory/blocks/a%2Fb"


async def test_what_is_not_given_is_not_sent() -> None:
    wire = answers(
        ok({"memories": []}), ok({"snapshots": 0, "jobs": 0}), ok({"jobs": [], "counts": {}})
    )

    async with wire.client() as client:
        await client.memories(user_id="ana")
        await client.flush(session_id="s")
        await client.jobs()

    assert wire.requests[0].url.query == b"user_id=ana"
    assert json.loads(wire.requests[1].content) == {"session_id": "s"}
    assert wire.requests[2].url.query == b""


async def test_a_token_is_sent_as_bearer_and_not_shown() -> None:
    wire = answers(ok({}))

    async with wire.client(token="secret-token") as client:
        await client.health()
        assert "secret-token" not in repr(client._wire)

    assert wire.requests[0].headers["authorization"] == "Bearer secret-token"


async def test_credentials_travel_in_the_form_and_not_in_the_address() -> None:
    wire = answers(ok({"access_token": "t", "token_type": "Bearer", "expires_in": 3600}))

    async with wire.client() as client:
        assert (await client.token("id", "a secret"))["access_token"] == "t"

    sent = wire.requests[0]
    assert sent.content == b"grant_type=client_credentials&client_id=id&client_secret=a+secret"
    assert sent.url.path == "/api/v1/oauth/token"
    assert not sent.url.query


async def test_of_a_refused_token_the_reason_is_told_and_not_its_name() -> None:
    body = {"code": "NOT_AUTHENTICATED", "error": "invalid_client", "error_description": "why"}

    async with answers(ok(body, 401)).client() as client:
        with pytest.raises(errors.NotAuthenticated, match="why"):
            await client.token("id", "secret")


@pytest.mark.parametrize(("status", "ready"), [(200, True), (503, False)])
async def test_not_being_ready_is_an_answer(status: int, ready: bool) -> None:
    async with answers(ok({"status": "x"}, status)).client() as client:
        assert await client.ready() == {"ready": ready, "status": "x"}


async def test_the_session_of_an_answer_may_stand_in_its_header() -> None:
    async with answers(
        ok({"response": "Hello"}, headers={"X-Session-ID": "s1"})
    ).client() as client:
        assert (await client.invoke("Hi"))["session_id"] == "s1"


STREAM = (
    b": comment\n\n"
    b'data: {"chunk_type": "text",\r\ndata: "content": "H\xc3\xa9"}\r\n\r\n'
    b'event: x\nid: 1\ndata:{"chunk_type": "done"}\n\n'
    b"data: [DONE]\n\n"
    b'data: {"chunk_type": "error"}'
)


async def test_frames_are_read_whatever_else_the_stream_holds() -> None:
    wire = answers(httpx.Response(200, content=STREAM))

    async with wire.client() as client:
        frames = [frame async for frame in client.invoke_stream("Hi")]

    assert frames == [
        {"chunk_type": "text", "content": "Hé"},
        {"chunk_type": "done"},
        {"chunk_type": "error"},
    ]


async def test_a_stream_that_is_refused_raises_the_servers_error() -> None:
    async with answers(ok({"code": "IDENTITY_MISSING", "error": "who?"}, 400)).client() as client:
        with pytest.raises(errors.IdentityMissing, match="who"):
            [frame async for frame in client.invoke_stream("Hi")]


async def test_a_frame_that_is_no_json_is_an_error() -> None:
    async with answers(httpx.Response(200, content=b"data: {\n\n")).client() as client:
        with pytest.raises(errors.MemoryServerError, match="not JSON"):
            [frame async for frame in client.invoke_stream("Hi")]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:8080", True),
        ("http://[::1]:8080", True),
        ("http://localhost", True),
        ("http://localhost.example.org", False),
        ("https://example.org", False),
    ],
)
def test_no_proxy_stands_before_this_machine(url: str, expected: bool) -> None:
    assert is_loopback(url) is expected
