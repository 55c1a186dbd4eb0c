from datetime import timedelta
from typing import Any

import pytest

from memory_server.domain.server import ALIVE, HEARTBEAT, KEPT, told
from memory_server.errors import InvalidProjectConfig, StorageUnavailable
from memory_server.ports.store import Store
from memory_server.services.servers import Presence, fingerprint_of
from memory_server.settings import ServerRole
from tests.clock import START, ManualClock
from tests.conformance.servers import a_server


@pytest.fixture
def make(store: Store, clock: ManualClock) -> Any:
    def made(server_id: str, **changes: Any) -> Presence:
        me = a_server(server_id, **changes)
        return Presence(servers=store.servers, clock=clock, me=me)

    return made


async def test_servers_know_each_other_from_their_first_heartbeat_on(make: Any) -> None:
    first, second = make("a"), make("b")
    await first.join()
    await second.join()
    before = [one.id for one in first.others]
    await first.beat()

    assert before == []
    assert [one.id for one in first.others] == ["b"]
    assert [one.id for one in second.others] == ["a"]


async def test_a_server_with_another_owner_token_is_refused_with_the_fix(
    make: Any, store: Store
) -> None:
    await make("a", owner_fingerprint=fingerprint_of("one")).join()
    other = make("b", owner_fingerprint=fingerprint_of("two"), host="two.example")

    with pytest.raises(InvalidProjectConfig, match="AGENTENGINE_OWNER_TOKEN_FILE") as refused:
        await other.join()

    assert "one.example:7" in str(refused.value)
    assert [one.id for one in await store.servers.seen_since(START)] == ["a"]


async def test_the_owner_token_of_a_server_that_is_gone_matters_no_more(
    make: Any, clock: ManualClock
) -> None:
    await make("killed", owner_fingerprint="one").join()
    left = make("left", owner_fingerprint="one")
    await left.join()
    await left.leave()
    clock.advance(by=ALIVE + timedelta(seconds=1))

    await make("b", owner_fingerprint="two").join()


def test_a_fingerprint_does_not_tell_the_token() -> None:
    token = "an owner token that nobody knows"

    assert fingerprint_of(token) == fingerprint_of(token) != fingerprint_of(token + "!")
    assert token not in fingerprint_of(token)


async def test_a_silent_server_counts_as_gone_and_is_forgotten_in_the_end(
    make: Any, store: Store, clock: ManualClock
) -> None:
    server, silent = make("a"), make("b")
    await server.join()
    await silent.join()
    clock.advance(by=ALIVE)
    await server.beat()
    still = [one.id for one in server.others]
    clock.advance(by=HEARTBEAT)
    await server.beat()
    clock.advance(by=KEPT)
    await server.beat()
    await server.forget_old()

    assert (still, server.others) == (["b"], [])
    assert [one.id for one in await store.servers.seen_since(START)] == ["a"]


async def test_who_is_gone_is_not_judged_right_after_the_store_was_away(
    make: Any, clock: ManualClock
) -> None:
    async def beats(server: Presence) -> list[bool]:
        steady = []
        for _ in range(6):
            await server.beat()
            steady.append(server.is_steady)
            clock.advance(by=HEARTBEAT)
        return steady

    server = make("a")
    at_first = await beats(server)
    clock.advance(60)
    afterwards = await beats(server)

    assert at_first == afterwards == [False, False, False, False, True, True]


async def test_a_server_that_stops_says_so_and_leaves_for_good(make: Any, store: Store) -> None:
    server = make("a")
    await server.join()
    await server.drain()
    (stopping,) = await store.servers.seen_since(START)
    await server.leave()
    await server.beat()

    assert stopping.is_stopping
    assert await store.servers.seen_since(START) == []


async def test_a_server_stops_though_the_store_is_away(
    make: Any, store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def away(*_: object) -> None:
        raise StorageUnavailable

    server = make("a")
    monkeypatch.setattr(store.servers, "report", away)
    monkeypatch.setattr(store.servers, "leave", away)

    await server.drain()
    await server.leave()

    assert caplog.text.count("the other servers could not be told") == 2


async def test_who_listens_hears_of_every_heartbeat(make: Any) -> None:
    heard: list[int] = []

    async def listen() -> None:
        heard.append(1)

    server = make("a")
    server.listen(listen)
    await server.beat()
    await server.beat()

    assert heard == [1, 1]


def test_mixed_configurations_are_told_with_who_runs_which() -> None:
    servers = [
        a_server("a", pid=1, config_digest="old" * 8),
        a_server("b", pid=2, config_digest="new" * 8),
        a_server("c", pid=3, config_digest="new" * 8),
    ]

    assert [*told(servers)] == [
        "the servers alive run 2 configurations: newnewnewnew on one.example:2, one.example:3; "
        "oldoldoldold on one.example:1"
    ]


def test_a_server_that_stops_mixes_nothing_and_does_no_work_any_more() -> None:
    stopping = a_server("a", config_digest="old", is_stopping=True)
    serving = a_server("b", role=ServerRole.API)

    (only,) = told([stopping, serving])

    assert only.startswith("no server that does background work is alive")
    assert [*told([stopping, a_server("c", role=ServerRole.WORKER)])] == []


def test_a_problem_of_a_server_is_told_with_its_name() -> None:
    assert [*told([a_server(problem="no key")])] == ["server one.example:7: no key"]
