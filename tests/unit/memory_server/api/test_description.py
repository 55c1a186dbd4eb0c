from typing import Any

import pytest
from fastapi import FastAPI

from memory_server.api import families
from memory_server.api.description import REASONS
from memory_server.api.errors import STATUSES
from memory_server.api.families import DIRECT, FLAT, PROJECT


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    app = FastAPI()
    families.mount(app)
    return app.openapi()


def errors_of(described: dict[str, Any], method: str, path: str) -> set[int]:
    answers = described["paths"][path][method]["responses"]
    return {int(status) for status in answers if int(status) >= 400}


def test_no_route_leaves_its_errors_open(described: dict[str, Any]) -> None:
    for methods in described["paths"].values():
        for operation in methods.values():
            assert "default" not in operation["responses"]
    assert "HTTPValidationError" not in str(described)


def test_every_status_of_an_error_has_its_reason() -> None:
    assert set(STATUSES.values()) - {500} <= set(REASONS)


@pytest.mark.parametrize(
    ("method", "path", "has", "has_not"),
    [
        ("post", f"{FLAT}/turns", {400, 401, 403, 409, 413, 422, 429, 503, 507}, {404}),
        ("post", f"{FLAT}/search", {400, 401, 413, 422, 502, 503}, {404, 409, 507}),
        ("get", f"{FLAT}/semantic", {400, 401, 422, 503}, {404, 409, 413}),
        ("get", f"{FLAT}/semantic/{{memory_id}}", {404, 422}, {409, 413}),
        ("delete", f"{FLAT}/procedural/{{memory_id}}", {404, 409}, {413}),
        ("post", f"{FLAT}/types/{{type_name}}", {400, 404, 409}, set()),
        ("get", "/health", set(), {400, 401, 503}),
    ],
)
def test_a_route_has_the_errors_of_what_it_does(
    described: dict[str, Any], method: str, path: str, has: set[int], has_not: set[int]
) -> None:
    errors = errors_of(described, method, path)

    assert has <= errors
    assert not has_not & errors


@pytest.mark.parametrize(
    ("path", "security"),
    [
        (f"{FLAT}/search", [{}, {"bearer": []}]),
        (f"{DIRECT}/search", [{}, {"bearer": []}]),
        (f"{PROJECT}/search", [{"bearer": []}]),
        ("/api/v1/admin/flush", [{"bearer": []}]),
        ("/api/v1/oauth/token", None),
    ],
)
def test_a_route_says_whether_it_needs_a_token(
    described: dict[str, Any], path: str, security: object
) -> None:
    assert described["paths"][path]["post"].get("security") == security


def test_every_parameter_of_a_path_is_described(described: dict[str, Any]) -> None:
    for path, methods in described["paths"].items():
        for operation in methods.values():
            named = [one["name"] for one in operation["parameters"] if one["in"] == "path"]
            assert sorted(named) == sorted(_names(path)), path


def _names(path: str) -> list[str]:
    return [step[1:-1] for step in path.split("/") if step.startswith("{")]


def test_a_query_may_be_blank_and_keeps_its_bounds(described: dict[str, Any]) -> None:
    [limit] = [
        one["schema"]
        for one in described["paths"][f"{FLAT}/semantic"]["get"]["parameters"]
        if one["name"] == "limit"
    ]

    assert limit["anyOf"] == [
        {"type": "integer", "minimum": 1, "maximum": 1000},
        {"type": "string", "pattern": r"^\s*$"},
    ]
    assert limit["default"] == 1000


def test_a_body_says_what_may_be_null_or_blank(described: dict[str, Any]) -> None:
    fact = described["components"]["schemas"]["SemanticBody"]["properties"]

    assert {"type": "null"} in fact["user_id"]["anyOf"]
    assert fact["label"]["pattern"] == r"\S"
    assert {"type": "string", "pattern": r"^\s*$"} in fact["visibility"]["anyOf"]
