"""Invocations that end before their end."""

import asyncio

import pytest

from memory_server.domain.execution import ExecutionStatus
from memory_server.domain.scope import Scope
from memory_server.errors import AgentTimedOut, ExecutionCancelled
from memory_server.ports.agent import AgentEvent
from memory_server.ports.store import Store
from memory_server.services.agent_run import KeepAlive
from memory_server.services.executions import ExecutionKeeping
from memory_server.services.invocation import Invocation, InvokeRequest
from tests.clock import ManualClock
from tests.unit.memory_server.services.invocation.steps import (
    LIMIT,
    OWNER,
    SILENCE,
    Echo,
    begun,
    said,
)


async def test_a_cancelled_execution_keeps_what_was_told(
    invocation: Invocation, executions: ExecutionKeeping, store: Store, answerer: Echo
) -> None:
    run, _events = await begun(invocation, answerer)

    await executions.cancel(run.execution.id)
    await run.task

    with pytest.raises(ExecutionCancelled):
        run.outcome()
    assert await said(store, "ana") == [("user", "hello"), ("assistant", "0 known, ")]
    [_, answer] = await store.turns.recent(Scope(project_id="p", user_id="ana"), limit=2)
    assert answer.metadata["interrupted"] == "it was cancelled"


async def test_a_caller_who_leaves_ends_the_work(
    invocation: Invocation, executions: ExecutionKeeping, store: Store, answerer: Echo
) -> None:
    run, events = await begun(invocation, answerer)

    await events.aclose()
    await run.task

    ended = await executions.find(run.execution.id)
    assert ended is not None
    assert ended.status is ExecutionStatus.CANCELLED
    assert (await said(store, "ana"))[-1] == ("assistant", "0 known, ")


async def test_an_invocation_that_takes_too_long_is_stopped(
    invocation: Invocation, executions: ExecutionKeeping, clock: ManualClock, answerer: Echo
) -> None:
    run, _events = await begun(invocation, answerer)

    clock.advance(LIMIT)
    await run.task

    with pytest.raises(AgentTimedOut, match="600 seconds"):
        run.outcome()
    ended = await executions.find(run.execution.id)
    assert ended is not None
    assert (ended.status, ended.error_code) == (ExecutionStatus.FAILED, "AGENT_TIMEOUT")


async def test_silence_is_told_so_that_the_connection_stays(
    invocation: Invocation, clock: ManualClock, answerer: Echo
) -> None:
    _run, events = await begun(invocation, answerer)
    hearing = asyncio.ensure_future(anext(events))
    for _ in range(5):
        await asyncio.sleep(0)

    clock.advance(SILENCE)

    assert isinstance(await hearing, KeepAlive)
    await events.aclose()


async def test_a_server_that_stops_writes_down_what_was_told(
    invocation: Invocation, store: Store, answerer: Echo
) -> None:
    run, _events = await begun(invocation, answerer)

    await invocation.close()

    assert run.task.done()
    assert (await said(store, "ana"))[-1] == ("assistant", "0 known, ")


async def test_a_slow_reader_makes_the_agent_wait(
    invocation: Invocation, answerer: Echo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_server.services.agent_run.MOST_UNREAD", 1)
    run = await invocation.start(
        OWNER, InvokeRequest(project_id="p", message="hello", user_id="ana")
    )
    for _ in range(50):
        await asyncio.sleep(0)

    assert not run.task.done()
    texts = [event.text async for event in run.events() if isinstance(event, AgentEvent)]
    assert texts == ["0 known, ", "0 recent"]
