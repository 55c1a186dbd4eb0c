from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.datastructures import Headers

from memory_server.api import families
from memory_server.api.admission import Admission, Asking
from memory_server.api.asking import asking_of
from memory_server.api.dependencies import is_only_reading
from tests.clock import ManualClock

ADMISSION = Admission(clock=ManualClock(), owner_token="owner")
FLAT = "/api/v1/memory"
NO_WRITES = ("/api/v1/oauth/token", "/api/v1/auth/login", "/api/v1/auth/refresh")
"""Routes that change no memory, though they change something."""


def asked(
    path: str = f"{FLAT}/turns",
    content: Any = None,
    *,
    method: str = "POST",
    query: str = "",
    **headers: str,
) -> Asking:
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "client": ("127.0.0.1", 1),
    }
    return asking_of(scope, Headers(headers), content, ADMISSION)


def mounted() -> Iterator[tuple[str, str, bool]]:
    """Yield path, method and whether it only reads, of every route there is."""
    app = FastAPI()
    families.mount(app)
    for route in iter_route_contexts(app.routes):
        for method in route.methods or ():
            path = str(route.path_format)
            yield path, method, is_only_reading(method, route.endpoint) or path in NO_WRITES


@pytest.mark.parametrize(("path", "method", "reads"), sorted(set(mounted())))
def test_what_is_said_to_read_is_counted_as_reading(path: str, method: str, reads: bool) -> None:
    assert asked(path, {}, method=method).writes is not reads


@pytest.mark.parametrize("name", ["search", "context", "retrieve", "admin", "invoke", "mcp"])
def test_what_users_call_their_things_changes_nothing(name: str) -> None:
    usual = asked(f"{FLAT}/types/note", {"user_id": "ana"})
    strange = asked(f"{FLAT}/types/{name}", {"user_id": "ana"})
    retrieved = asked(f"/api/v1/projects/{name}/memory/types/{name}/retrieve", {})

    assert strange == usual
    assert (retrieved.writes, retrieved.takes_long) == (False, False)


@pytest.mark.parametrize(
    ("content", "query", "user"),
    [
        ({"user_id": "ana"}, "", "ana"),
        ({"user_id": " ana "}, "", "ana"),
        ({"user_id": ""}, "", None),
        ({"user_id": None}, "user_id=bob", "bob"),
        ({"user_id": ["ana"]}, "", None),
        (["user_id"], "", None),
        (None, "user_id=ana%20b&user_id=c", "ana b"),
        (None, "user_id=", None),
        (None, "%ff=%zz&&&=", None),
    ],
)
def test_a_request_is_for_the_user_it_names(content: Any, query: str, user: str | None) -> None:
    assert asked(content=content, query=query).user_id == user


def test_a_tool_is_for_the_user_among_its_arguments_and_only_one_of_them_writes() -> None:
    def call(name: Any, arguments: Any) -> tuple[str | None, bool]:
        message = {"method": "tools/call", "params": {"name": name, "arguments": arguments}}
        made = asked("/api/v1/projects/p/mcp", message)
        return made.user_id, made.writes

    assert call("record_turn", {"user_id": "ana"}) == ("ana", True)
    assert call("search_memories", {"user_id": "ana"}) == ("ana", False)
    assert call(7, "ana") == (None, False)
    assert asked("/api/v1/projects/p/mcp", {"params": []}).writes is False


def test_callers_are_told_apart_by_credential_and_without_one_by_address() -> None:
    one, other = asked(authorization="Bearer one"), asked(authorization="Bearer other")

    assert len({one.caller, other.caller, asked().caller}) == 3
    assert asked().caller == "127.0.0.1"
    assert [asked(authorization="Bearer owner").is_trusted, one.is_trusted] == [True, False]


def test_users_of_two_projects_are_two_users() -> None:
    assert asked("/api/v1/projects/shop/memory/turns").project_id == "shop"
    assert asked().project_id is None


@pytest.mark.parametrize(
    ("path", "long"),
    [
        ("/api/v1/projects/p/workspaces/w/invoke", True),
        ("/api/v1/projects/p/workspaces/w/invokeStream", True),
        ("/invoke", True),
        ("/invoke/stream", True),
        ("/api/v1/admin/flush", True),
        ("/api/v1/projects/p/admin/scope", True),
        (f"{FLAT}/turns", False),
        (f"{FLAT}/semantic/invoke-me", False),
    ],
)
def test_administration_and_invocations_take_their_time(path: str, long: bool) -> None:
    assert asked(path).takes_long is long
