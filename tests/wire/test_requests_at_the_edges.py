"""Requests as no schema describes them: paths, methods, media types, headers, broken bodies."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from memory_server.api.errors import NEEDS_OBJECT
from memory_server.api.families import DIRECT, FLAT, PROJECT
from tests.unit.memory_server.api.application import OWNER_TOKEN
from tests.unit.memory_server.api.application import PROJECT as SHOP
from tests.wire.conftest import Served

PREFIXES = {"flat": FLAT, "project": PROJECT.format(project_id=SHOP), "direct": DIRECT}
RESERVED = (
    "a/b",
    "/",
    "//",
    "a%b",
    "%",
    "a%2Fb",
    "a?b",
    "a#b",
    "a+b",
    "a b",
    "a;b",
    "ä",
    "日本",
    "..;",
)
"""Ids that stand for themselves only when they are encoded; none of them is an id of anything."""


@pytest.fixture(params=PREFIXES)
def caller(served: Served, request: pytest.FixtureRequest) -> Iterator[httpx.Client]:
    """A caller of one route family, with a token where it needs one."""
    headers = {"Authorization": f"Bearer {OWNER_TOKEN}"} if request.param == "project" else {}
    address = served.url + PREFIXES[request.param] + "/"
    with httpx.Client(base_url=address, headers=headers, trust_env=False) as client:
        yield client


def code(answer: httpx.Response) -> tuple[int, str]:
    assert set(answer.json()) >= {"code", "error", "detail", "request_id"}
    return answer.status_code, answer.json()["code"]


# Ids ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "kind"),
    [
        ("GET", "semantic"),
        ("PATCH", "semantic"),
        ("GET", "procedural"),
        ("PATCH", "procedural"),
        ("DELETE", "procedural"),
    ],
)
def test_an_id_with_reserved_characters_is_one_segment(
    caller: httpx.Client, method: str, kind: str
) -> None:
    body: dict[str, Any] | None = {} if method == "PATCH" else None
    paths = [f"{kind}/{quote(item, safe='')}" for item in RESERVED]

    answers = {path: code(caller.request(method, path, json=body)) for path in paths}

    assert answers == dict.fromkeys(paths, (404, "MEMORY_NOT_FOUND"))


def test_a_type_with_reserved_characters_is_an_unknown_type(caller: httpx.Client) -> None:
    for name in (*RESERVED, "x/retrieve", "retrieve"):
        path = f"types/{quote(name, safe='')}"

        answers = [
            caller.post(path, json={"content": "c"}),
            caller.post(f"{path}/retrieve", json={"query": "c"}),
        ]

        for answer in answers:
            assert answer.status_code == 404, name
            assert "unknown custom memory type '" in answer.json()["error"]


@pytest.mark.parametrize("project", [*RESERVED, f"{SHOP}/memory", "no-such-project"])
def test_a_project_with_reserved_characters_is_an_unknown_project(
    owner: httpx.Client, project: str
) -> None:
    path = PROJECT.format(project_id=quote(project, safe=""))

    answers = [
        owner.post(f"{path}/turns", json={"session_id": "s", "role": "user", "content": "x"}),
        owner.post(f"{path}/search", json={"type": "semantic", "query": "x"}),
        owner.post(f"{path}/context", json={"query": "x"}),
        owner.get(f"{path}/semantic"),
    ]

    assert {code(answer) for answer in answers} == {(403, "PROJECT_NOT_FOUND")}


def test_an_id_that_holds_a_path_names_no_other_route(owner: httpx.Client) -> None:
    hidden = quote(f"{SHOP}/memory/semantic?user_id=", safe="")

    assert code(owner.get(f"/api/v1/projects/{hidden}"))[0] in (403, 404)
    assert code(owner.get("/api/v1/memory/taxonomic%2Fdomains")) == (404, "ROUTE_NOT_FOUND")


def test_a_user_is_any_text_and_only_themselves(caller: httpx.Client) -> None:
    for user in (*RESERVED, "a" * 512, "*", "_", '"', "'; --", "$ne"):
        body = {"label": "l", "text": "t", "user_id": user, "upsert": True}
        saved = caller.post("semantic", json=body).json()["id"]

        found = caller.get("semantic", params={"user_id": user}).json()["entries"]

        assert [(entry["id"], entry["user_id"]) for entry in found] == [(saved, user)]


# Methods and paths ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "semantic", "GET, POST"),
        ("DELETE", "semantic", "GET, POST"),
        ("OPTIONS", "semantic", "GET, POST"),
        ("TRACE", "semantic", "GET, POST"),
        ("GET", "search", "POST"),
        ("DELETE", "semantic/x", "GET, PATCH"),
        ("POST", "procedural/x", "DELETE, GET, PATCH"),
        ("PATCH", "taxonomic/domains", "GET"),
    ],
)
def test_a_wrong_method_is_told_with_the_right_ones(
    caller: httpx.Client, method: str, path: str, allowed: str
) -> None:
    answer = caller.request(method, path)

    assert code(answer) == (405, "METHOD_NOT_ALLOWED")
    assert answer.headers["allow"] == allowed


@pytest.mark.parametrize("path", ["semantic", "episodic", "taxonomic/domains", "queueStats"])
def test_head_is_get_without_a_body(caller: httpx.Client, path: str) -> None:
    answer = caller.head(path)

    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("path", ["/health", "/ready"])
def test_a_health_check_may_use_head(http: httpx.Client, path: str) -> None:
    assert http.head(path).status_code == 200


@pytest.mark.parametrize("path", ["semantic/", "turns/", "search/", "nothing", "semantic//x"])
def test_a_path_that_is_no_route_is_told_and_not_redirected(
    caller: httpx.Client, path: str
) -> None:
    answer = caller.get(path)

    assert code(answer) == (404, "ROUTE_NOT_FOUND")
    assert ("leave out the slash" in answer.json()["error"]) == path.endswith("/")


# Bodies ---------------------------------------------------------------------------------------

TURN = {"session_id": "edges", "role": "user", "content": "x"}
SEARCH = {"type": "semantic", "query": "x"}
ROUTES = pytest.mark.parametrize(("path", "body"), [("turns", TURN), ("search", SEARCH)])


@ROUTES
@pytest.mark.parametrize(
    "content",
    ["{", "", "[1", '{"a"', "{'query': 'x'}", '{"query": NaN}', "\x00", "\ufeff{}", "nul"],
)
def test_broken_json_is_told(
    caller: httpx.Client, path: str, body: dict[str, Any], content: str
) -> None:
    answer = caller.post(path, content=content, headers={"Content-Type": "application/json"})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == ["body"]


@pytest.mark.parametrize("content", ["[]", "[{}]", "null", '"x"', "7", "true"])
@pytest.mark.parametrize("path", ["turns", "search", "context", "semantic"])
def test_what_is_json_and_no_object_is_told(caller: httpx.Client, path: str, content: str) -> None:
    answer = caller.post(path, content=content, headers={"Content-Type": "application/json"})

    assert code(answer) == (422, "VALIDATION_ERROR")
    assert "object" in answer.json()["error"] or content == "null"


@ROUTES
@pytest.mark.parametrize(
    "kind",
    [
        "application/json",
        "APPLICATION/JSON",
        "application/json; charset=utf-8",
        "application/json;charset=UTF-8",
        "application/vnd.api+json",
    ],
)
def test_json_is_taken_under_all_its_names(
    caller: httpx.Client, path: str, body: dict[str, Any], kind: str
) -> None:
    answer = caller.post(path, content=_text(body), headers={"Content-Type": kind})

    assert answer.is_success, answer.text


@ROUTES
@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "text/json"]
)
def test_what_a_page_of_another_site_may_send_is_not_taken(
    caller: httpx.Client, path: str, body: dict[str, Any], kind: str
) -> None:
    answer = caller.post(path, content=_text(body), headers={"Content-Type": kind})

    assert answer.status_code in (400, 422)
    assert "Content-Type: application/json" in answer.json()["error"]
    assert NEEDS_OBJECT.endswith("Content-Type: application/json")


def _text(body: dict[str, Any]) -> bytes:
    return httpx.Request("POST", "http://x", json=body).content


# Query strings --------------------------------------------------------------------------------


@pytest.fixture
def procedure(caller: httpx.Client, user: str) -> str:
    """A procedure that is hidden."""
    body = {"procedure": "p", "description": "d", "content": "c", "user_id": user}
    made = str(caller.post("procedural", json=body).json()["id"])
    assert caller.delete(f"procedural/{made}", params={"user_id": user}).is_success
    return made


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("true", True),
        ("True", True),
        ("1", True),
        ("false", False),
        ("FALSE", False),
        ("0", False),
        ("", False),
        (" ", False),
        (None, False),
    ],
)
def test_a_boolean_of_a_query_may_be_spelled_and_may_be_blank(
    caller: httpx.Client, procedure: str, user: str, given: str | None, shown: bool
) -> None:
    query = {"user_id": user} | ({} if given is None else {"include_deleted": given})

    listed = caller.get("procedural", params=query).json()["entries"]
    read = caller.get(f"procedural/{procedure}", params=query)

    assert [entry["id"] for entry in listed] == [procedure] * shown
    assert read.status_code == (200 if shown else 404)


def test_what_is_no_boolean_is_told(caller: httpx.Client, procedure: str) -> None:
    answer = caller.get("procedural", params={"include_deleted": "perhaps"})

    assert code(answer) == (422, "VALIDATION_ERROR")
    assert answer.json()["errors"][0]["loc"] == ["query", "include_deleted"]


@pytest.mark.parametrize("blank", ["", " ", "\t"])
def test_every_blank_query_parameter_counts_as_absent(
    caller: httpx.Client, user: str, blank: str
) -> None:
    episode = {"title": "t", "content": "c", "user_id": user, "session_id": "s"}
    saved = caller.post("episodic", json=episode).json()["id"]
    blanks = dict.fromkeys(("visibility", "session_id", "limit", "org_id", "project_id"), blank)

    entries = caller.get("episodic", params=blanks | {"user_id": user}).json()["entries"]

    assert [entry["id"] for entry in entries] == [saved]


@pytest.mark.parametrize("name", ["user_id", "visibility", "limit"])
def test_a_query_that_says_something_twice_is_refused(caller: httpx.Client, name: str) -> None:
    answer = caller.get("semantic", params=[(name, "1"), (name, "org")])

    assert answer.status_code in (400, 422)
    assert name in answer.json()["error"]


# Headers --------------------------------------------------------------------------------------

NEW, OLD = "X-Agent-Engine-Agent-Id", "X-Agentic-Agent-Id"


@pytest.mark.parametrize(
    ("headers", "agent"),
    [
        ({NEW: "new"}, "new"),
        ({OLD: "old"}, "old"),
        ({NEW: "new", OLD: "old"}, "new"),
        ({NEW: "", OLD: "old"}, "old"),
        ({NEW.lower(): "new"}, "new"),
        ({}, None),
    ],
)
def test_the_agent_is_that_of_the_newer_header(
    caller: httpx.Client, user: str, headers: dict[str, str], agent: str | None
) -> None:
    fact = {"label": "l", "text": "t", "user_id": user, "upsert": True}

    caller.post("semantic", json=fact, headers=headers)
    caller.post("semantic", json=fact | {"label": "m", "agent_id": "own"}, headers=headers)

    entries = caller.get("semantic", params={"user_id": user}).json()["entries"]
    assert {entry["label"]: entry["agent_id"] for entry in entries} == {"l": agent, "m": "own"}


@pytest.mark.parametrize(
    "names",
    [("X-Agent-Engine-Execution-Id",), ("X-Agentic-Execution-Id",)],
)
def test_either_execution_header_turns_the_policy_on(
    caller: httpx.Client, names: tuple[str, ...]
) -> None:
    answer = caller.post("search", json=SEARCH, headers=dict.fromkeys(names, "execution-1"))

    assert answer.status_code == 400
    assert "user_id" in answer.json()["error"]
    assert "visibility" in answer.json()["error"]


# Bodies name no project -----------------------------------------------------------------------


@pytest.mark.parametrize("foreign", ["", " ", None, "bank", 7, ["bank"]])
def test_a_project_in_a_body_decides_nothing(
    caller: httpx.Client, user: str, foreign: object
) -> None:
    fact = {"label": "l", "text": "t", "user_id": user, "org_id": foreign, "project_id": foreign}

    saved = caller.post("semantic", json=fact | {"unknown": {"deep": [1]}})

    assert saved.status_code == 201
    query = {"user_id": user, "project_id": "bank"}
    [entry] = caller.get("semantic", params=query).json()["entries"]
    assert (entry["project_id"], entry["org_id"]) == (SHOP, "acme")
