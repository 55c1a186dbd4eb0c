"""What every keeper of executions promises. Each store's test module runs the whole class."""

import asyncio
from datetime import timedelta
from typing import Any

from memory_server.domain.account import PrincipalKind
from memory_server.domain.execution import (
    SERVER_GONE,
    Execution,
    ExecutionStatus,
    MemoryIdentity,
)
from memory_server.domain.scope import Scope
from memory_server.ports.store import Store
from tests.clock import START
from tests.factories import PROJECT, SESSION, USER, a_scope, an_id

LATER = START + timedelta(hours=1)


def an_execution(**changes: Any) -> Execution:
    """Return an invocation that runs for Ana."""
    values: dict[str, Any] = {
        "id": an_id("execution"),
        "project_id": PROJECT,
        "workspace": "main",
        "server_id": "a",
        "identity": MemoryIdentity(
            kind=PrincipalKind.SERVICE_ACCOUNT, invoker="bot", user_id=USER, delegated=True
        ),
        "session_id": SESSION,
        "status": ExecutionStatus.RUNNING,
        "started_at": START,
    }
    return Execution(**values | changes)


async def begun(store: Store, **changes: Any) -> Execution:
    """Keep an execution and return it."""
    execution = an_execution(**changes)
    await store.executions.begin(execution)
    return execution


class ExecutionsContract:
    """A subclass provides the fixture `store`, open and empty."""

    async def test_what_was_begun_is_found_whole(self, store: Store) -> None:
        execution = await begun(store)

        assert await store.executions.find(execution.id) == execution
        assert await store.executions.find("another") is None

    async def test_the_first_end_counts(self, store: Store) -> None:
        execution = await begun(store)

        first = await store.executions.finish(
            execution.id, ExecutionStatus.FAILED, at=LATER, error_code="C"
        )
        second = await store.executions.finish(
            execution.id, ExecutionStatus.COMPLETED, at=LATER + timedelta(1)
        )

        assert first == execution.ended(ExecutionStatus.FAILED, at=LATER, error_code="C")
        assert first == second == await store.executions.find(execution.id)

    async def test_of_two_ends_at_once_one_counts_and_both_are_told_which(
        self, store: Store
    ) -> None:
        execution = await begun(store)

        ends = await asyncio.gather(
            store.executions.finish(execution.id, ExecutionStatus.CANCELLED, at=LATER),
            store.executions.finish(execution.id, ExecutionStatus.COMPLETED, at=LATER),
        )

        assert ends[0] == ends[1] == await store.executions.find(execution.id)

    async def test_the_end_of_what_is_not_known_is_no_end(self, store: Store) -> None:
        assert await store.executions.finish("x", ExecutionStatus.COMPLETED, at=LATER) is None

    async def test_those_that_do_not_run_are_told(self, store: Store) -> None:
        running, ended = await begun(store), await begun(store)
        await store.executions.finish(ended.id, ExecutionStatus.CANCELLED, at=LATER)

        assert await store.executions.over([running.id, ended.id, "x"]) == [ended.id, "x"]
        assert await store.executions.over([]) == []

    async def test_what_no_server_alive_works_on_is_ended(self, store: Store) -> None:
        alive, left = await begun(store), await begun(store, server_id="gone")
        over = await begun(store, server_id="gone")
        await store.executions.finish(over.id, ExecutionStatus.COMPLETED, at=START)
        young = await begun(store, server_id="new", started_at=LATER)

        ended = await store.executions.end_abandoned(alive=["a"], started_before=LATER, at=LATER)

        found = {one: await store.executions.find(one.id) for one in (alive, left, over, young)}
        assert ended == 1
        assert found[left] == left.ended(ExecutionStatus.FAILED, at=LATER, error_code=SERVER_GONE)
        assert (found[alive], found[young]) == (alive, young)
        assert found[over] == over.ended(ExecutionStatus.COMPLETED, at=START)

    async def test_what_ended_long_ago_is_forgotten(self, store: Store) -> None:
        running, old, new = await begun(store), await begun(store), await begun(store)
        await store.executions.finish(old.id, ExecutionStatus.COMPLETED, at=START)
        await store.executions.finish(new.id, ExecutionStatus.COMPLETED, at=LATER)

        assert await store.executions.forget(ended_before=LATER) == 1
        assert await store.executions.over([running.id, old.id, new.id]) == [old.id, new.id]
        assert await store.executions.find(old.id) is None
        assert await store.executions.find(new.id) is not None

    async def test_erasing_a_user_forgets_their_executions(self, store: Store) -> None:
        mine = await begun(store)
        bobs = await begun(store, identity=MemoryIdentity(kind=PrincipalKind.OWNER, user_id="bob"))
        foreign = await begun(store, project_id="bank")

        counts = await store.erase(a_scope())

        assert counts["executions"] == 1
        assert await store.executions.find(mine.id) is None
        assert await store.executions.find(bobs.id) == bobs
        await store.erase(Scope(project_id=PROJECT))
        assert await store.executions.find(bobs.id) is None
        assert await store.executions.find(foreign.id) == foreign

    async def test_erasing_what_is_nobodys_leaves_executions(self, store: Store) -> None:
        execution = await begun(store)

        await store.erase(a_scope(user_id=None, userless=True))

        assert await store.executions.find(execution.id) == execution
