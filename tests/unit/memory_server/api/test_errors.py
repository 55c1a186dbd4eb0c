from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from memory_server import errors
from memory_server.api.admission import Admission
from memory_server.api.errors import STATUSES, install, status_of
from memory_server.api.limits import RequestFrame
from memory_server.api.metrics import Metrics
from memory_server.application import Application
from memory_server.errors import MemoryServerError
from tests.clock import ManualClock
from tests.unit.memory_server.api.application import PROJECT
from tests.unit.memory_server.api.callers import OWNER


def classes(root: type[MemoryServerError] = MemoryServerError) -> Iterator[type[MemoryServerError]]:
    yield root
    for child in root.__subclasses__():
        yield from classes(child)


def failing(error: Exception) -> httpx.AsyncClient:
    """Return a client of an application whose only route raises the error."""
    app = FastAPI()

    @app.get("/")
    async def fail() -> None:
        raise error

    admission = Admission(clock=ManualClock(), owner_token="owner")
    app.add_middleware(RequestFrame, metrics=Metrics(), admission=admission)
    install(app)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://localhost")


async def answer_to(error: Exception) -> httpx.Response:
    async with failing(error) as client:
        return await client.get("/")


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("mongodb at db-1.internal:27017,db-2.internal, database mdb_memory_shop", "mongodb"),
        ("/var/lib/agentengine/memory.db", "(a path)"),
    ],
)
async def test_only_callers_of_this_machine_are_told_where_the_store_is(
    place: str, told: str
) -> None:
    away = errors.StorageUnavailable(f"{place}: it does not answer in time")
    async with failing(away) as client:
        near = await client.get("/")
        stranger = await client.get("/", headers={"X-Forwarded-For": "203.0.113.7"})

    assert near.json()["error"] == str(away)
    assert stranger.json()["error"] == f"{told}: it does not answer in time"


def test_every_class_of_error_has_a_code_of_its_own() -> None:
    codes = [kind.code for kind in classes()]

    assert len(codes) == len(set(codes))


@pytest.mark.parametrize("kind", list(classes()), ids=lambda kind: kind.__name__)
async def test_every_class_of_error_is_answered_with_its_code_and_an_error_status(
    kind: type[MemoryServerError],
) -> None:
    answer = await answer_to(kind("because"))

    assert answer.status_code == status_of(kind) >= 400
    assert answer.json()["code"] == kind.code


@pytest.mark.parametrize("kind", list(classes()), ids=lambda kind: kind.__name__)
def test_what_may_pass_by_itself_is_answered_with_a_status_that_clients_may_retry(
    kind: type[MemoryServerError],
) -> None:
    if kind.retryable:
        assert status_of(kind) in (408, 409, 429, 502, 503, 504, 507)


def test_every_status_in_the_table_belongs_to_a_class_of_the_tree() -> None:
    assert set(STATUSES) <= set(classes())


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (errors.UndeclaredPath, 400),
        (errors.NotAuthenticated, 401),
        (errors.TokenExpired, 401),
        (errors.IdentityRefused, 403),
        (errors.ProjectNotFound, 403),
        (errors.MemoryNotFound, 404),
        (errors.UnknownCustomType, 404),
        (errors.DuplicateName, 409),
        (errors.TooLarge, 413),
        (errors.RateLimited, 429),
        (errors.StorageUnavailable, 503),
        (errors.AllSourcesFailed, 503),
    ],
)
def test_statuses_that_clients_rely_on(kind: type[MemoryServerError], status: int) -> None:
    assert status_of(kind) == status


async def test_the_envelope_says_the_reason_twice_for_clients_of_all_ages() -> None:
    answer = await answer_to(errors.InvalidRequest("label: give one"))

    body = answer.json()
    assert body["error"] == body["detail"] == "label: give one"
    assert body["request_id"] == answer.headers["x-request-id"]
    assert set(body) == {"code", "error", "detail", "request_id"}


async def test_a_bug_is_answered_without_its_text(caplog: pytest.LogCaptureFixture) -> None:
    answer = await answer_to(RuntimeError("password=hunter2"))

    assert answer.status_code == 500
    assert answer.json()["code"] == "INTERNAL"
    assert "hunter2" not in answer.text
    assert answer.json()["request_id"] in caplog.text
    assert answer.headers["x-request-id"] == answer.json()["request_id"]


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (errors.RateLimited(retry_after=2.1), "3"),
        (errors.StorageUnavailable(retry_after=30), "30"),
        (errors.StorageUnavailable(), "1"),
        (errors.RateLimited(), None),
        (errors.StorageLocked(), None),
    ],
)
async def test_retry_after_is_sent_where_it_is_known(
    error: MemoryServerError, seconds: str | None
) -> None:
    assert (await answer_to(error)).headers.get("retry-after") == seconds


async def test_a_missing_token_is_answered_with_the_scheme() -> None:
    answer = await answer_to(errors.NotAuthenticated())

    assert answer.headers["www-authenticate"] == "Bearer"


async def test_the_problems_of_a_configuration_are_all_sent() -> None:
    answer = await answer_to(errors.InvalidProjectConfig("no", problems=["a: b", "c: d"]))

    assert answer.json()["problems"] == ["a: b", "c: d"]


FLAT = "/api/v1/memory"


@pytest.mark.parametrize(
    ("method", "path", "status", "code", "said"),
    [
        ("GET", f"{FLAT}/nothing", 404, "ROUTE_NOT_FOUND", f"no route {FLAT}/nothing"),
        ("GET", f"{FLAT}/turns", 405, "METHOD_NOT_ALLOWED", "does not take GET"),
        ("DELETE", "/ready", 405, "METHOD_NOT_ALLOWED", "does not take DELETE"),
    ],
)
async def test_a_path_that_is_no_route_is_answered_with_the_envelope(
    client: httpx.AsyncClient, method: str, path: str, status: int, code: str, said: str
) -> None:
    answer = await client.request(method, path)

    assert answer.status_code == status
    assert answer.json()["code"] == code
    assert said in answer.json()["error"]


@pytest.mark.parametrize("path", ["turns", "search", "semantic", "context"])
@pytest.mark.parametrize("body", [b"{not json", b"[1, 2]", b'"text"', b"", b"{}"])
async def test_a_body_that_does_not_fit_is_answered_with_places(
    client: httpx.AsyncClient, path: str, body: bytes
) -> None:
    answer = await client.post(
        f"{FLAT}/{path}", content=body, headers={"content-type": "application/json"}
    )

    assert answer.status_code == 422
    assert answer.json()["code"] == "VALIDATION_ERROR"
    assert all({"loc", "msg"} == set(problem) for problem in answer.json()["errors"])
    assert answer.json()["error"] == answer.json()["detail"] != ""


async def test_an_invalid_value_is_named_but_not_repeated(client: httpx.AsyncClient) -> None:
    answer = await client.post(
        f"{FLAT}/turns", json={"session_id": "s", "role": "hunter2", "content": "x"}
    )

    assert answer.json()["errors"][0]["loc"] == ["body", "role"]
    assert "hunter2" not in answer.text


SOURCES = f"{FLAT}/retrieval/context-from-sources"
ACCOUNTS = f"/api/v1/projects/{PROJECT}/service-accounts"


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        (SOURCES, {"sources": []}, "sources: Input should have at least 1 item"),
        (SOURCES, {"sources": [{"source": "x"}]}, "sources.0.source: Input should be one of"),
        (ACCOUNTS, {"name": "n", "roles": []}, "roles: Input should have at least 1 item"),
    ],
)
async def test_what_a_list_lacks_is_told_once_and_in_words(
    client: httpx.AsyncClient, path: str, body: dict[str, Any], said: str
) -> None:
    answer = await client.post(path, json={"query": "q", **body}, headers=OWNER)

    assert [said in problem for problem in answer.json()["error"].split("; ")] == [True]


async def test_a_secret_that_is_too_long_is_measured_in_characters(
    client: httpx.AsyncClient,
) -> None:
    path = f"/api/v1/projects/{PROJECT}/secrets/OPENAI_API_KEY"
    answer = await client.put(path, json={"value": "x" * 100_000}, headers=OWNER)

    assert answer.json()["error"] == "value: Input should have at most 65536 characters"


async def test_a_store_that_is_away_is_answered_with_503(
    client: httpx.AsyncClient, application: Application
) -> None:
    await application.store.close()

    answer = await client.get(f"{FLAT}/semantic")

    assert answer.status_code == 503
    assert answer.json()["code"] == "STORAGE_UNAVAILABLE"
