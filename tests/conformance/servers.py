"""What every list of servers promises. Each store's test module runs the whole class."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from memory_server.domain.server import Server
from memory_server.ports.store import Store
from memory_server.settings import ServerRole
from tests.clock import START

LATER = START + timedelta(minutes=1)


def a_server(server_id: str = "a", **changes: Any) -> Server:
    """Return a server as it reports itself."""
    values: dict[str, Any] = {
        "id": server_id,
        "host": "one.example",
        "pid": 7,
        "role": ServerRole.ALL,
        "version": "1.0",
        "config_digest": "digest",
        "owner_fingerprint": "fingerprint",
        "started_at": START,
        "seen_at": START,
    }
    return Server(**values | changes)


class ServersContract:
    """A subclass provides the fixture `store`, open and empty."""

    async def test_a_server_is_listed_as_it_reported_itself_last(self, store: Store) -> None:
        server = a_server(role=ServerRole.WORKER, problem="no key")
        await store.servers.report(server)
        changed = replace(server, seen_at=LATER, is_stopping=True, problem=None)
        await store.servers.report(changed)

        assert await store.servers.seen_since(START) == [changed]

    async def test_servers_are_listed_by_age_and_only_those_heard_of_lately(
        self, store: Store
    ) -> None:
        young = a_server("a", started_at=LATER, seen_at=LATER)
        old = a_server("b", seen_at=LATER)
        silent = a_server("c")
        for server in (young, old, silent):
            await store.servers.report(server)

        assert await store.servers.seen_since(LATER) == [old, young]
        assert await store.servers.seen_since(START) == [old, silent, young]

    async def test_a_server_that_takes_its_leave_is_listed_no_more(self, store: Store) -> None:
        await store.servers.report(a_server())

        await store.servers.leave("a")
        await store.servers.leave("another")

        assert await store.servers.seen_since(START) == []

    async def test_servers_that_did_not_take_their_leave_are_forgotten_in_the_end(
        self, store: Store
    ) -> None:
        await store.servers.report(a_server("a"))
        await store.servers.report(a_server("b", seen_at=LATER))

        assert await store.servers.forget(before=LATER) == 1
        assert [one.id for one in await store.servers.seen_since(START)] == ["b"]
