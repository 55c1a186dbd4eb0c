"""Who invokes, what answers, and what the tests of invocations do."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence

from memory_server.domain.account import Principal, PrincipalKind
from memory_server.domain.chunk import Chunk
from memory_server.domain.past_questions import PastQuestion
from memory_server.domain.scope import Scope
from memory_server.domain.turn import Turn
from memory_server.errors import ProviderUnavailable
from memory_server.ports.agent import AgentEvent
from memory_server.ports.answerer import Answerer
from memory_server.ports.store import Store
from memory_server.providers.agents.builtin import BuiltInAgent
from memory_server.services.agent_run import KeepAlive
from memory_server.services.invocation import Invocation, InvokeOutcome, InvokeRequest, Run

LIMIT, SILENCE = 600.0, 15.0
OWNER = Principal(kind=PrincipalKind.OWNER, id="owner")
BOT = Principal(kind=PrincipalKind.SERVICE_ACCOUNT, id="ae_sa_id_bot", project_id="p")
EVE = Principal(kind=PrincipalKind.PERSON, id="eve", project_id="p")
INSIDE = Principal(kind=PrincipalKind.EXECUTION, id="ana", project_id="p")


class Echo(Answerer):
    """Says in two pieces how much it was given."""

    def __init__(self) -> None:
        self.fails = False
        self.waits: asyncio.Event | None = None
        """What it waits for between its pieces."""
        self.context = ""
        self.past: PastQuestion | None = None
        """What it was given last."""

    @property
    def name(self) -> str:
        return "echo"

    async def answer(
        self,
        message: str,
        *,
        context: str,
        chunks: Sequence[Chunk],
        recent: Sequence[Turn],
        past: PastQuestion | None = None,
    ) -> AsyncIterator[str]:
        self.context, self.past = context, past
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


Events = AsyncGenerator[AgentEvent | KeepAlive]


async def begun(invocation: Invocation, answerer: Echo) -> tuple[Run, Events]:
    """Return a run that waits after its first piece, which is read."""
    answerer.waits = asyncio.Event()
    request = InvokeRequest(project_id="p", message="hello", user_id="ana")
    run = await invocation.start(OWNER, request)
    events = run.events()
    await anext(events)
    return run, events
