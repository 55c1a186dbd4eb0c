import logging
from collections.abc import AsyncIterator, Sequence

import pytest

from memory_server.domain.account import Principal, PrincipalKind
from memory_server.domain.chunk import Chunk
from memory_server.domain.formats import FormatStyle
from memory_server.domain.memory import Fact
from memory_server.domain.partitions import Partitions
from memory_server.domain.scope import Scope
from memory_server.domain.turn import Turn
from memory_server.errors import InvalidRequest, ProviderUnavailable
from memory_server.ports.answerer import Answerer
from memory_server.ports.store import Store
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.services.context import ContextBuilding
from memory_server.services.invocation import Invocation, InvokeOutcome, InvokeRequest
from memory_server.services.memories import MemoryKeeping, SaveRequest
from memory_server.services.search import Retrieval
from memory_server.services.turns import TurnRecording
from tests.clock import CountingIds, ManualClock
from tests.unit.memory_server.services.conftest import ANA

OWNER = Principal(kind=PrincipalKind.OWNER, id="owner")
BOT = Principal(kind=PrincipalKind.SERVICE_ACCOUNT, id="ae_sa_id_bot", project_id="p")


class Echo(Answerer):
    """Says in two pieces how much it was given."""

    def __init__(self) -> None:
        self.fails = False

    @property
    def name(self) -> str:
        return "echo"

    async def answer(
        self, message: str, *, context: str, chunks: Sequence[Chunk], recent: Sequence[Turn]
    ) -> AsyncIterator[str]:
        if self.fails:
            raise ProviderUnavailable
        yield f"{len(chunks)} known, "
        yield f"{len(recent)} recent"


@pytest.fixture
def answerer() -> Echo:
    return Echo()


@pytest.fixture
def invocation(
    store: Store,
    recording: TurnRecording,
    embedder: HashingEmbedder,
    ids: CountingIds,
    answerer: Echo,
) -> Invocation:
    return Invocation(
        recording=recording,
        turns=store.turns,
        context=ContextBuilding(
            store=store,
            retrieval=Retrieval(store=store, embedder=embedder),
            partitions=Partitions(),
            default_style=FormatStyle.JINJA2,
        ),
        answerer=answerer,
        ids=ids,
    )


async def outcome_of(
    invocation: Invocation, principal: Principal = OWNER, **request: str | None
) -> InvokeOutcome:
    given = InvokeRequest(**{"project_id": "p", "message": "hello", **request})  # type: ignore[arg-type]
    events = [event async for event in invocation.invoke(principal, given)]
    assert events[-1].outcome is not None
    return events[-1].outcome


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

    async for _ in invocation.invoke(OWNER, request):
        pass

    assert (await said(store, "ana"))[0] == ("user", '{"city": "Köln"}')
