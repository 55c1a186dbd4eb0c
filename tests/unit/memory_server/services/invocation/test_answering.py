"""What is answered and recorded."""

from datetime import timedelta
from typing import Any

import pytest

from memory_server.domain.execution import ExecutionStatus
from memory_server.domain.memory import Fact
from memory_server.domain.scope import Scope
from memory_server.errors import InvalidRequest, ProjectNotFound, ProviderUnavailable
from memory_server.ports.store import Store
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.services.executions import ExecutionKeeping
from memory_server.services.invocation import Invocation, InvokeRequest
from memory_server.services.memories import MemoryKeeping, SaveRequest
from tests.clock import CountingIds, ManualClock
from tests.unit.memory_server.services.conftest import ANA
from tests.unit.memory_server.services.invocation.steps import OWNER, Echo, begun, outcome_of, said


async def test_message_and_answer_are_recorded(invocation: Invocation, store: Store) -> None:
    outcome = await outcome_of(invocation, user_id="ana")

    assert outcome.response == "0 known, 0 recent"
    assert await said(store, "ana") == [("user", "hello"), ("assistant", "0 known, 0 recent")]


async def test_answer_is_recorded_with_the_name_of_who_gave_it(
    invocation: Invocation, store: Store
) -> None:
    await outcome_of(invocation, user_id="ana")

    message, answer = await store.turns.recent(Scope(project_id="p", user_id="ana"), limit=10)
    assert "answered_by" not in message.metadata
    assert answer.metadata["answered_by"] == "echo"


async def test_what_is_known_reaches_the_answerer(
    invocation: Invocation,
    store: Store,
    embedder: HashingEmbedder,
    clock: ManualClock,
    ids: CountingIds,
) -> None:
    keeping = MemoryKeeping(store=store, embedder=embedder, clock=clock, ids=ids)
    await keeping.save(ANA, SaveRequest(body=Fact(label="greeting", text="Says hello a lot")))

    outcome = await outcome_of(invocation, user_id="ana")

    assert outcome.response.startswith("1 known")


async def test_what_held_at_a_past_time_reaches_the_answerer_where_it_is_asked_for(
    invocation: Invocation,
    store: Store,
    embedder: HashingEmbedder,
    clock: ManualClock,
    ids: CountingIds,
    answerer: Echo,
) -> None:
    keeping = MemoryKeeping(store=store, embedder=embedder, clock=clock, ids=ids)
    for text in ("Ana lives in Bergen", "Ana lives in Oslo"):
        await keeping.save(ANA, SaveRequest(body=Fact(label="home", text=text), upsert=True))
        clock.advance(by=timedelta(days=400))
    year = (clock.now() - timedelta(days=800)).year

    await outcome_of(invocation, user_id="ana", message=f"Where did I live in {year}?")
    assert answerer.past is not None
    assert [chunk.content for chunk in answerer.past.chunks] == ["Ana lives in Bergen"]
    then, now = answerer.context.split("# What is known now")
    assert f"# What held in {year}, as of 31 December {year}" in then
    assert ("Bergen" in then, "Oslo" in then) == (True, False)
    assert ("Bergen" in now, "Oslo" in now) == (False, True)

    await outcome_of(invocation, user_id="ana", message="Where do I live?")
    assert answerer.past is None
    assert "Bergen" not in answerer.context


async def test_what_was_just_said_in_another_session_is_known(invocation: Invocation) -> None:
    await outcome_of(invocation, user_id="ana", session_id="one")
    outcome = await outcome_of(invocation, user_id="ana", session_id="two")

    assert outcome.response.endswith("2 recent")


@pytest.mark.parametrize("session_id", ["", "a b", "x" * 129, "ä"])
async def test_impossible_session_id_is_refused(invocation: Invocation, session_id: str) -> None:
    with pytest.raises(InvalidRequest, match=r"^session_id"):
        await outcome_of(invocation, user_id="ana", session_id=session_id)


async def test_message_is_recorded_even_if_no_answer_can_be_given(
    invocation: Invocation, store: Store, answerer: Echo
) -> None:
    answerer.fails = True

    with pytest.raises(ProviderUnavailable):
        await outcome_of(invocation, user_id="ana")

    assert await said(store, "ana") == [("user", "hello")]


async def test_payload_alone_is_the_message(invocation: Invocation, store: Store) -> None:
    request = InvokeRequest(project_id="p", message="", payload={"city": "Köln"}, user_id="ana")

    run = await invocation.start(OWNER, request)
    await run.task

    assert (await said(store, "ana"))[0] == ("user", '{"city": "Köln"}')


async def test_an_execution_is_known_while_it_runs_and_afterwards(
    invocation: Invocation, executions: ExecutionKeeping, answerer: Echo
) -> None:
    run, _events = await begun(invocation, answerer)
    during = await executions.find(run.execution.id)
    assert answerer.waits is not None
    answerer.waits.set()
    await run.task
    after = await executions.find(run.execution.id)

    assert during is not None
    assert after is not None
    assert (during.status, after.status) == (ExecutionStatus.RUNNING, ExecutionStatus.COMPLETED)
    assert (after.user_id, after.project_id) == ("ana", "p")


async def test_an_answer_does_not_come_into_a_project_that_was_made_anew_meanwhile(
    invocation: Invocation,
    store: Store,
    answerer: Echo,
    clock: ManualClock,
    project: dict[str, Any],
) -> None:
    run, _events = await begun(invocation, answerer)
    clock.advance(1)
    project["created_at"] = clock.now()
    assert answerer.waits is not None
    answerer.waits.set()
    await run.task

    with pytest.raises(ProjectNotFound, match="nothing was stored"):
        run.outcome()
    assert await said(store, "ana") == [("user", "hello")]
