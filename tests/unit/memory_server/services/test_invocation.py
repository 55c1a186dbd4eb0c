import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from memory_server.domain.account import Principal, PrincipalKind
from memory_server.domain.chunk import Chunk
from memory_server.domain.formats import FormatStyle
from memory_server.domain.memory import Fact
from memory_server.domain.partitions import Partitions
from memory_server.domain.project import Project
from memory_server.domain.scope import Scope
from memory_server.domain.turn import Turn
from memory_server.errors import (
    AgentTimedOut,
    ExecutionCancelled,
    IdentityRefused,
    InvalidRequest,
    ProjectNotFound,
    ProviderUnavailable,
)
from memory_server.ports.agent import AgentEvent
from memory_server.ports.answerer import Answerer
from memory_server.ports.store import Store
from memory_server.providers.agents.builtin import BuiltInAgent
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.providers.reranking.absent import NoReranker
from memory_server.services.agent_run import KeepAlive, RunLimits
from memory_server.services.context import ContextBuilding
from memory_server.services.executions import Executions, ExecutionStatus
from memory_server.services.invocation import Invocation, InvokeOutcome, InvokeRequest, Run
from memory_server.services.memories import MemoryKeeping, SaveRequest
from memory_server.services.reranking import Reranking
from memory_server.services.search import Retrieval
from memory_server.services.turns import TurnRecording
from tests.clock import START, CountingIds, ManualClock
from tests.unit.memory_server.services.conftest import ANA

OWNER = Principal(kind=PrincipalKind.OWNER, id="owner")
BOT = Principal(kind=PrincipalKind.SERVICE_ACCOUNT, id="ae_sa_id_bot", project_id="p")
EVE = Principal(kind=PrincipalKind.PERSON, id="eve", project_id="p")
INSIDE = Principal(kind=PrincipalKind.EXECUTION, id="ana", project_id="p")
LIMIT, SILENCE = 600.0, 15.0


class Echo(Answerer):
    """Says in two pieces how much it was given."""

    def __init__(self) -> None:
        self.fails = False
        self.waits: asyncio.Event | None = None
        """What it waits for between its pieces."""

    @property
    def name(self) -> str:
        return "echo"

    async def answer(
        self, message: str, *, context: str, chunks: Sequence[Chunk], recent: Sequence[Turn]
    ) -> AsyncIterator[str]:
        if self.fails:
            raise ProviderUnavailable
        yield f"{len(chunks)} known, "
        if self.waits is not None:
            await self.waits.wait()
        yield f"{len(recent)} recent"


class Forgetful(BuiltInAgent):
    """Has no memory."""

    @property
    def remembers(self) -> bool:
        return False


@pytest.fixture
def answerer() -> Echo:
    return Echo()


@pytest.fixture
def executions(clock: ManualClock, ids: CountingIds) -> Executions:
    return Executions(clock=clock, ids=ids)


@pytest.fixture
def project() -> dict[str, Any]:
    """The settings of the project, for tests to change."""
    return {}


@pytest.fixture
def invocation(
    store: Store,
    recording: TurnRecording,
    embedder: HashingEmbedder,
    ids: CountingIds,
    clock: ManualClock,
    executions: Executions,
    project: dict[str, Any],
    answerer: Echo,
) -> Invocation:
    async def project_of(project_id: str) -> Project:
        made = {"created_at": START, "updated_at": START}
        return Project(id=project_id, name="P", **made | project)

    return Invocation(
        recording=recording,
        turns=store.turns,
        context=ContextBuilding(
            store=store,
            retrieval=Retrieval(store=store, embedder=embedder),
            reranking=Reranking(NoReranker("there is none")),
            partitions=Partitions(),
            default_style=FormatStyle.JINJA2,
        ),
        agent=BuiltInAgent(answerer),
        executions=executions,
        clock=clock,
        ids=ids,
        project_of=project_of,
        limits=RunLimits(whole=LIMIT, silence=SILENCE),
    )


async def outcome_of(
    invocation: Invocation, principal: Principal = OWNER, **request: str | None
) -> InvokeOutcome:
    given = InvokeRequest(**{"project_id": "p", "message": "hello", **request})  # type: ignore[arg-type]
    run = await invocation.start(principal, given)
    async for _ in run.events():
        pass
    return run.outcome()


async def said(store: Store, user: str) -> list[tuple[str, str]]:
    turns = await store.turns.recent(Scope(project_id="p", user_id=user), limit=10)
    return [(turn.role.value, turn.content) for turn in turns]


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


async def test_what_was_just_said_in_another_session_is_known(invocation: Invocation) -> None:
    await outcome_of(invocation, user_id="ana", session_id="one")
    outcome = await outcome_of(invocation, user_id="ana", session_id="two")

    assert outcome.response.endswith("2 recent")


async def test_service_account_is_itself_the_memory_identity(
    invocation: Invocation, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        outcome = await outcome_of(invocation, BOT, user_id="ana")

    assert (outcome.identity.user_id, outcome.identity.overridden) == (BOT.id, True)
    assert "user_id is ignored" in outcome.warnings[0]
    assert "user_id is ignored" in caplog.text
    assert await said(store, "ana") == []
    assert len(await said(store, BOT.id)) == 2


@pytest.mark.parametrize("supplied", [None, BOT.id])
async def test_service_account_that_names_nobody_else_is_not_warned(
    invocation: Invocation, supplied: str | None
) -> None:
    outcome = await outcome_of(invocation, BOT, user_id=supplied)

    assert (outcome.identity.overridden, list(outcome.warnings)) == (False, [])


async def test_nobody_is_refused_before_anything_is_recorded(
    invocation: Invocation, store: Store
) -> None:
    with pytest.raises(InvalidRequest, match=r"^user_id"):
        await outcome_of(invocation)


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


Events = AsyncGenerator[AgentEvent | KeepAlive]


async def begun(invocation: Invocation, answerer: Echo) -> tuple[Run, Events]:
    """Return a run that waits after its first piece, which is read."""
    answerer.waits = asyncio.Event()
    request = InvokeRequest(project_id="p", message="hello", user_id="ana")
    run = await invocation.start(OWNER, request)
    events = run.events()
    await anext(events)
    return run, events


async def test_delegation_lets_a_service_account_name_a_user(
    invocation: Invocation,
    store: Store,
    project: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    project["allow_delegation"] = True

    with caplog.at_level(logging.INFO):
        outcome = await outcome_of(invocation, BOT, user_id="ana")

    identity = outcome.identity
    assert (identity.user_id, identity.delegated, identity.overridden) == ("ana", True, False)
    assert list(outcome.warnings) == []
    assert "acts for user 'ana'" in caplog.text
    assert len(await said(store, "ana")) == 2


@pytest.mark.parametrize(
    ("principal", "supplied", "enforced", "expected"),
    [
        (EVE, None, True, "eve"),
        (EVE, "eve", True, "eve"),
        (EVE, "ana", False, "ana"),
        (INSIDE, None, False, "ana"),
    ],
)
async def test_a_person_is_themselves_unless_they_may_name_another(
    invocation: Invocation,
    project: dict[str, Any],
    principal: Principal,
    supplied: str | None,
    enforced: bool,
    expected: str,
) -> None:
    project["enforce_identity"] = enforced

    outcome = await outcome_of(invocation, principal, user_id=supplied)

    assert outcome.identity.user_id == expected


async def test_what_an_agent_invokes_is_invoked_by_whoever_invoked_the_agent(
    invocation: Invocation,
) -> None:
    outcome = await outcome_of(invocation, replace(INSIDE, on_behalf_of=EVE))

    found = outcome.identity
    assert (found.kind, found.invoker, found.user_id) == (PrincipalKind.PERSON, "eve", "ana")


@pytest.mark.parametrize(("principal", "enforced"), [(EVE, True), (INSIDE, False)])
async def test_naming_another_is_refused_and_nothing_runs(
    invocation: Invocation,
    store: Store,
    project: dict[str, Any],
    principal: Principal,
    enforced: bool,
) -> None:
    project["enforce_identity"] = enforced

    with pytest.raises(IdentityRefused, match=r"^user_id"):
        await outcome_of(invocation, principal, user_id="bob")

    assert await said(store, "bob") == []


async def test_an_agent_without_memory_records_nothing_and_needs_no_user(
    invocation: Invocation, store: Store, answerer: Echo
) -> None:
    invocation._agent = Forgetful(answerer)

    outcome = await outcome_of(invocation)

    assert (outcome.response, outcome.context) == ("0 known, 0 recent", None)
    assert await store.turns.recent(Scope(project_id="p"), limit=10) == []


async def test_an_execution_is_known_while_it_runs_and_afterwards(
    invocation: Invocation, executions: Executions, answerer: Echo
) -> None:
    run, _events = await begun(invocation, answerer)
    during = executions.find(run.execution.id)
    assert answerer.waits is not None
    answerer.waits.set()
    await run.task
    after = executions.find(run.execution.id)

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


async def test_a_cancelled_execution_keeps_what_was_told(
    invocation: Invocation, executions: Executions, store: Store, answerer: Echo
) -> None:
    run, _events = await begun(invocation, answerer)

    executions.cancel(run.execution.id)
    await run.task

    with pytest.raises(ExecutionCancelled):
        run.outcome()
    assert await said(store, "ana") == [("user", "hello"), ("assistant", "0 known, ")]
    [_, answer] = await store.turns.recent(Scope(project_id="p", user_id="ana"), limit=2)
    assert answer.metadata["interrupted"] == "it was cancelled"


async def test_a_caller_who_leaves_ends_the_work(
    invocation: Invocation, executions: Executions, store: Store, answerer: Echo
) -> None:
    run, events = await begun(invocation, answerer)

    await events.aclose()
    await run.task

    ended = executions.find(run.execution.id)
    assert ended is not None
    assert ended.status is ExecutionStatus.CANCELLED
    assert (await said(store, "ana"))[-1] == ("assistant", "0 known, ")


async def test_an_invocation_that_takes_too_long_is_stopped(
    invocation: Invocation, executions: Executions, clock: ManualClock, answerer: Echo
) -> None:
    run, _events = await begun(invocation, answerer)

    clock.advance(LIMIT)
    await run.task

    with pytest.raises(AgentTimedOut, match="600 seconds"):
        run.outcome()
    ended = executions.find(run.execution.id)
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
