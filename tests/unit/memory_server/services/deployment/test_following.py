"""Servers of one store that go by the configuration which one of them applied."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from memory_server.bootstrap import succeed
from memory_server.errors import ApplyInProgress
from memory_server.services.deployment import Deployment
from memory_server.services.following import AGAIN
from memory_server.settings import ConfigSource
from memory_server.storage.files import DeploymentDirectory
from memory_server.storage.sqlite.store import SqliteStore
from tests.clock import ManualClock
from tests.unit.memory_server.api.application import FakeModels, an_application
from tests.unit.memory_server.services.deployment.steps import HOSTED, LOUD, Deployed, apply

KEY = {"VOYAGE_API_KEY": "v"}


@pytest.fixture
async def store(clock: ManualClock) -> AsyncIterator[SqliteStore]:
    """A store that two servers share: in memory both are in one process."""
    store = SqliteStore(None, clock=clock)
    await store.open()
    yield store
    await store.close()


Serve = Callable[..., Awaitable[Deployed]]


@pytest.fixture
async def serve(tmp_path: Path, clock: ManualClock, store: SqliteStore) -> AsyncIterator[Serve]:
    """Let a server of that name serve; `base` is what its environment gives it."""
    begun: list[Deployed] = []

    async def served(name: str, **base: Any) -> Deployed:
        (tmp_path / name).mkdir()
        first = an_application(tmp_path / name, clock, FakeModels(), store)
        deployment = Deployment(
            first,
            base=replace(first.settings, **base),
            succeed=succeed,
            store=store,
            records=DeploymentDirectory(tmp_path / "shared"),
            presence=first.presence,
            clock=clock,
        )
        await deployment.prepare()
        await first.presence.join()
        deployment.begin()
        begun.append(deployment)
        return deployment

    yield served
    for deployment in begun:
        await deployment.end()
        await deployment.current.let_go()


async def followed(deployment: Deployed) -> None:
    """Return once what the next heartbeat brings is done."""
    await deployment.current.presence.beat()
    if deployment.applies._working is not None:
        await asyncio.wait({deployment.applies._working})


async def test_what_one_server_applied_the_others_run_from_their_next_heartbeat_on(
    serve: Serve,
) -> None:
    leader, follower = await serve("a"), await serve("b")
    before = follower.current
    await leader.store_config(LOUD)
    await apply(leader)

    await followed(follower)

    assert follower.current is not before
    assert follower.running.digest == leader.running.digest
    assert follower.current.settings.memory.log_level == "debug"
    assert follower.current.presence.me.config_digest == leader.running.digest


async def test_a_server_that_runs_it_already_is_left_alone(serve: Serve) -> None:
    leader = await serve("a")
    await leader.store_config(LOUD)
    await apply(leader)
    serving = leader.current

    await followed(leader)

    assert leader.current is serving


async def test_a_server_that_starts_later_begins_with_what_was_applied(serve: Serve) -> None:
    leader = await serve("a")
    await leader.store_config(LOUD)
    await apply(leader)

    late = await serve("b")

    assert late.running.digest == leader.running.digest
    assert late.running.source is ConfigSource.APPLIED


async def test_a_server_without_the_key_says_so_and_stays_on_the_old_configuration(
    serve: Serve,
) -> None:
    leader, follower = await serve("a", secrets=KEY), await serve("b")
    before = follower.current
    await leader.store_config(HOSTED)
    await apply(leader)

    await followed(follower)
    await follower.current.presence.beat()
    await leader.current.presence.beat()

    assert follower.current is before
    told = " ".join(leader.current.presence.warnings)
    assert "the servers alive run 2 configurations" in told
    assert "VOYAGE_API_KEY" in told
    assert "environment of this server" in told


async def test_what_could_not_be_followed_is_tried_again_after_a_while(
    serve: Serve, clock: ManualClock
) -> None:
    leader, follower = await serve("a", secrets=KEY), await serve("b")
    await leader.store_config(HOSTED)
    await apply(leader)
    await followed(follower)
    first = follower.applies.last

    await followed(follower)
    at_once = follower.applies.last
    clock.advance(by=AGAIN)
    await followed(follower)

    assert first is at_once
    assert follower.applies.last is not first


async def test_a_configuration_that_was_delivered_follows_nobody(serve: Serve) -> None:
    leader, follower = await serve("a"), await serve("b", source=ConfigSource.DELIVERED)
    before = follower.current
    await leader.store_config(LOUD)
    await apply(leader)

    await followed(follower)

    assert follower.current is before


async def test_a_server_that_stops_follows_nobody(serve: Serve) -> None:
    leader, follower = await serve("a"), await serve("b")
    before = follower.current
    await leader.store_config(LOUD)
    await apply(leader)
    follower.drain()

    await followed(follower)

    assert follower.current is before


async def test_while_another_server_applies_none_else_does(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def claimed(self: object, by: str, *, now: datetime, until: datetime) -> str:
        return "two.example:9"

    server = await serve("a")
    before = server.current
    await server.store_config(LOUD)
    monkeypatch.setattr(DeploymentDirectory, "claim", claimed)

    with pytest.raises(ApplyInProgress, match=r"two\.example:9 is applying"):
        await apply(server)

    assert server.current is before
