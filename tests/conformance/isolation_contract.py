"""Nothing of one owner ever reaches another, through no method of any port."""

import inspect
from collections.abc import Iterator
from typing import Any

import pytest

from memory_server.domain.scope import Scope
from memory_server.ports.accounts import Accounts
from memory_server.ports.archive import Archive
from memory_server.ports.attempts import Attempts
from memory_server.ports.deployment import DeploymentRecords
from memory_server.ports.executions import Executions
from memory_server.ports.jobs import Jobs
from memory_server.ports.memories import Memories
from memory_server.ports.proposals import Proposals
from memory_server.ports.search import SearchIndex
from memory_server.ports.servers import Servers
from memory_server.ports.snapshots import Snapshots
from memory_server.ports.spaces import Spaces
from memory_server.ports.store import Store
from memory_server.ports.turns import Turns
from tests.conformance.isolation import FOREIGN, TRIES, fill, fingerprint
from tests.conformance.unscoped import NOT_SCOPED
from tests.factories import a_scope

PORTS = (
    Turns,
    Snapshots,
    Memories,
    Jobs,
    Proposals,
    Accounts,
    SearchIndex,
    Spaces,
    Archive,
    Store,
    Executions,
    Attempts,
    Servers,
    DeploymentRecords,
)


def _methods() -> Iterator[str]:
    for port in PORTS:
        for name, member in vars(port).items():
            if inspect.iscoroutinefunction(member):
                yield f"{port.__name__}.{name}"


def _strangers() -> Iterator[Any]:
    for name, attempt in TRIES.items():
        yield pytest.param(name, Scope(project_id=FOREIGN, user_id="ana"), id=f"{name}-project")
        if attempt.by_user:
            yield pytest.param(name, a_scope(user_id="bob"), id=f"{name}-user")
            yield pytest.param(name, a_scope(user_id=""), id=f"{name}-user with an empty name")
            nobody = a_scope(user_id=None, userless=True)
            yield pytest.param(name, nobody, id=f"{name}-nobody")


class IsolationContract:
    """A subclass provides the fixture `store`, open and empty."""

    def test_every_method_of_every_port_has_its_case(self) -> None:
        tried = {name.split(" ")[0] for name in TRIES}

        assert tried | NOT_SCOPED.keys() == set(_methods())

    @pytest.mark.parametrize(("name", "stranger"), list(_strangers()))
    async def test_a_stranger_gets_nothing_and_changes_nothing(
        self, store: Store, name: str, stranger: Scope
    ) -> None:
        known = await fill(store)
        before = await fingerprint(store)
        attempt = TRIES[name]

        if attempt.refused is None:
            assert not await attempt.attempt(store, known, stranger)
        else:
            with pytest.raises(attempt.refused):
                await attempt.attempt(store, known, stranger)

        assert await fingerprint(store) == before
