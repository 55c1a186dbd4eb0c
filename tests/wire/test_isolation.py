"""Nothing of one owner ever reaches another: random scripts over every memory route."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
from fastapi.routing import iter_route_contexts

from memory_server.api.families import FAMILIES, PROJECT
from memory_server.app import create_app
from memory_server.providers.system import SystemClock
from tests.homes import Home
from tests.unit.memory_server.api.application import an_application
from tests.wire.isolation_call import Step
from tests.wire.isolation_steps import CALLS, OF_OWNERS, ROUTES, play
from tests.wire.isolation_world import (
    CUSTOM,
    SESSIONS,
    USERS,
    VISIBILITIES,
    World,
    a_world,
)

CONFIGURATION: dict[str, Any] = {
    "extraction": {"enabled": []},
    "metadata_partition_index": {"semantic": ["both"], "short_term": ["both"]},
    "custom_memory_types": [{"name": CUSTOM, "collection": "tickets", "tags": [{"name": "plant"}]}],
}

BY_OWNER = [call for call in CALLS if call[0] == "owner"]
SAVING = [
    route
    for route in ROUTES
    if route[0] == "POST" and "retriev" not in route[1] and "proposals" not in route[1]
]
ANY = [*ROUTES, *OF_OWNERS]
FIRST, THEN = 60, 300
"""How many requests fill the world, and how many then do anything in it."""
ADDRESS = "http://localhost"


def a_script(seed: int, *, first: int = FIRST, then: int = THEN) -> Iterator[Step]:
    """Yield what the owner saves for everybody, then any requests, by anybody, about anybody."""
    draw = Random(seed)  # noqa: S311 a script that can be played again
    for number in range(first + then):
        is_first = number < first
        yield Step(
            route=draw.choice(SAVING if is_first else ANY),
            by=draw.choice(BY_OWNER if is_first else CALLS),
            user=draw.choice((None, None, *USERS)),
            visibility=draw.choice((None, None, None, *VISIBILITIES)),
            session=draw.choice(SESSIONS),
            pick=draw.randrange(1000),
            flag=draw.random() < 0.5,
        )


def in_a_world(
    directory: Path, home: Home, script: Callable[[World], Coroutine[Any, Any, None]]
) -> None:
    """Run something against a server of its own."""

    async def run() -> None:
        clock = SystemClock()
        store = home.store(clock)
        application = an_application(directory, clock, store=store, **CONFIGURATION)
        await application.store.open()
        transport = httpx.ASGITransport(create_app(application), raise_app_exceptions=False)
        try:
            async with httpx.AsyncClient(
                transport=transport, base_url="http://localhost"
            ) as client:
                await script(await a_world(application, client))
        finally:
            await application.close()

    asyncio.run(run())


@pytest.mark.both_stores
def test_a_short_script_reads_and_changes_on_either_store_what_its_callers_may(
    tmp_path: Path, home: Home
) -> None:
    async def run(world: World) -> None:
        for step in a_script(5, first=30, then=60):
            await play(world, step)

    in_a_world(tmp_path, home, run)


@pytest.mark.parametrize("seed", range(5))
def test_no_script_reads_or_changes_what_its_callers_may_not(
    tmp_path: Path, home: Home, seed: int
) -> None:
    async def run(world: World) -> None:
        for step in a_script(seed):
            await play(world, step)

    in_a_world(tmp_path, home, run)


def test_every_memory_route_is_in_the_scripts(tmp_path: Path) -> None:
    app = create_app(an_application(tmp_path, SystemClock(), **CONFIGURATION))
    served = {
        (method, str(route.path_format))
        for route in iter_route_contexts(app.routes)
        for method in route.methods or ()
    }

    under_a_project = {
        (method, path.removeprefix(PROJECT)) for method, path in served if path.startswith(PROJECT)
    }
    assert under_a_project == set(ROUTES)
    for prefix in FAMILIES:
        assert {(method, prefix + path) for method, path in ROUTES} <= served
