"""Every route against the server's own description of it, with inputs that nobody would think of.

Inputs are made from the OpenAPI document: the borders of every value, values that are wrong in one
place, and random ones from a fixed seed. Answers must have a described status and the described
shape; what the description allows must be accepted, and what it forbids refused.
"""

import asyncio
import re
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, settings
from schemathesis import Case, CheckFunction, Config
from schemathesis.specs.openapi.checks import positive_data_acceptance
from starlette.types import Receive, Scope, Send

from memory_server.api import families
from memory_server.app import create_app
from memory_server.providers.system import SystemClock
from tests.unit.memory_server.api.application import OWNER_TOKEN, an_application
from tests.wire.conftest import MakeHome

RANDOM_CASES = 6
"""Random inputs for each route, beside those that its description leads to."""
CASES_ALONE = 10
"""Random inputs where the description's own are not tried: they are elsewhere."""

UNDERSTOOD_AND_REFUSED = ("400", "413")
"""A request that fits its schema may still ask for what cannot be: a user's turn without content,
a filter on a path that is not declared. It is never answered with 422."""

RULES_NO_SCHEMA_SAYS = frozenset(("each source may be listed once",))
"""What is answered with 422 although JSON Schema has no words for it."""

JUDGED_AS_A_WHOLE = "INVALID_PROJECT_CONFIG"
"""A configuration has rules between its keys, and against the one that ran before."""

INDEXED = {"semantic": ["both"], "short_term": ["both"]}
"""With turns indexed every source can be searched, so that no answer has to be a 503."""


class Living:
    """An application whose life does not end with the test that began it, as its callers think."""

    def __init__(self) -> None:
        self._app: FastAPI | None = None
        self._life = AsyncExitStack()
        self._loop: asyncio.AbstractEventLoop | None = None

    def begin(self, app: FastAPI) -> None:
        """Say which application it is; it starts with the first request."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._app is not None
        if scope["type"] != "lifespan":
            await self._app(scope, receive, send)
            return
        for moment in ("startup", "shutdown"):
            await receive()
            if self._loop is None:
                self._loop = asyncio.get_running_loop()
                await self._life.enter_async_context(self._app.router.lifespan_context(self._app))
            await send({"type": f"lifespan.{moment}.complete"})

    def end(self) -> None:
        """End it, in the thread in which it lives."""
        if self._loop is not None:
            asyncio.run_coroutine_threadsafe(self._life.aclose(), self._loop).result(30)


def _description() -> schemathesis.BaseSchema:
    app = FastAPI()
    families.mount(app)
    config = Config(seed=1)
    checks = config.projects.default.checks
    checks.positive_data_acceptance.expected_statuses.extend(UNDERSTOOD_AND_REFUSED)
    return schemathesis.openapi.from_asgi("/openapi.json", app, config=config)


@schemathesis.serializer("application/x-ndjson")
def _lines(ctx: schemathesis.SerializationContext, value: object) -> bytes:
    """Send what is drawn for an archive as it is."""
    return str(value).encode("utf-8", "replace")


schema = _description()
served = Living()
schema.app = served

# The three prefixes serve the same functions. Each is met by the callers who use it: the flat one
# by those without a token, a project's by those with one, and the direct one, which is as the flat
# one, by random inputs alone.
_UNDER = {prefix: f"^{re.escape(prefix)}/" for prefix in families.FAMILIES}
_FLAT, _PROJECT = _UNDER[families.FLAT], _UNDER[families.PROJECT]
_DIRECT = "|".join(
    f"^{re.escape(path)}$"
    for path in schema.raw_schema["paths"]
    if path.startswith(families.DIRECT)
    and path.replace(families.DIRECT, families.FLAT, 1) in schema.raw_schema["paths"]
)
flat = schema.include(path_regex=_FLAT)
direct = schema.include(path_regex=_DIRECT)
of_a_project = schema.exclude(path_regex=f"{_FLAT}|{_DIRECT}")
# Texts of 64 KiB take their time to be made: that route is met with a token alone.
guarded = schema.exclude(path_regex=f"{_FLAT}|{_DIRECT}|{_PROJECT}|/secrets/{{name}}$")

bounded = settings(
    max_examples=RANDOM_CASES,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module", autouse=True)
def _server(tmp_path_factory: pytest.TempPathFactory, a_home: MakeHome) -> Iterator[None]:
    """One server for all inputs, one after the other, so that reads find what was written."""
    directory = tmp_path_factory.mktemp("fuzzed")
    clock = SystemClock()
    with a_home() as home:
        application = an_application(
            directory, clock, store=home.store(clock), metadata_partition_index=INDEXED
        )
        served.begin(create_app(application))
        yield
        served.end()


def _check(case: Case[Any], **headers: str) -> None:
    answer = case.call(headers=headers)
    excluded: list[CheckFunction] = []
    if answer.status_code == 422:
        reasons = {problem["msg"] for problem in answer.json()["errors"]}
        ruled = reasons <= RULES_NO_SCHEMA_SAYS or answer.json()["code"] == JUDGED_AS_A_WHOLE
        excluded = [positive_data_acceptance] if ruled else []
    case.validate_response(answer, excluded_checks=excluded)


alone = settings(bounded, phases=[Phase.generate], max_examples=CASES_ALONE)


@flat.parametrize()
@bounded
def test_without_a_token_every_memory_route_answers_as_described(case: Case[Any]) -> None:
    _check(case)


@of_a_project.parametrize()
@bounded
def test_with_the_owner_token_every_route_answers_as_described(case: Case[Any]) -> None:
    _check(case, Authorization=f"Bearer {OWNER_TOKEN}")


@direct.parametrize()
@alone
def test_under_the_direct_prefix_every_answer_is_as_described(case: Case[Any]) -> None:
    _check(case)


@guarded.parametrize()
@alone
def test_without_a_token_what_needs_one_answers_as_described(case: Case[Any]) -> None:
    _check(case)


def test_what_is_fuzzed_is_what_is_served(tmp_path: Path) -> None:
    served = create_app(an_application(tmp_path, SystemClock())).openapi()

    assert schema.raw_schema["paths"] == served["paths"]
    parts = [len([*part.get_all_operations()]) for part in (flat, direct, of_a_project)]
    assert sum(parts) == len([*schema.get_all_operations()])
    assert parts[0] == parts[1] > 25
