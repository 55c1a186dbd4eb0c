"""Services over SQLite in memory, a hashing embedder, and a clock whose hands tests turn."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

import pytest

from memory_server.domain.account import AccountRole
from memory_server.domain.candidate import Candidate, Conversation, Extraction
from memory_server.domain.memory import Claim, EventTime, Fact, MemoryType
from memory_server.domain.scope import Scope
from memory_server.domain.turn import Role
from memory_server.errors import ProviderError
from memory_server.ports.extractor import Extractor
from memory_server.ports.store import Store
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.services.members import MemberKeeping
from memory_server.services.service_accounts import IssuedSecret, NewAccount, ServiceAccounts
from memory_server.services.tokens import Tokens
from memory_server.services.turns import TurnInput, TurnRecording
from memory_server.storage.sqlite.store import SqliteStore
from tests.clock import CountingIds, ManualClock

ANA = Scope(project_id="p", user_id="ana")
BOB = Scope(project_id="p", user_id="bob")
OWNER_TOKEN = "the-owner-token"


class ScriptedExtractor(Extractor):
    """Proposes what the test says, and counts how often it is asked."""

    def __init__(self) -> None:
        self.script: Callable[[Conversation, MemoryType], Sequence[Candidate]] = lambda *_: ()
        self.failures: list[ProviderError] = []
        self.asked = 0

    def version(self, kind: MemoryType) -> str:
        return "scripted/1"

    async def extract(self, conversation: Conversation, kind: MemoryType) -> Extraction:
        self.asked += 1
        if self.failures:
            raise self.failures.pop(0)
        return Extraction(candidates=tuple(self.script(conversation, kind)))

    async def check(self) -> None:
        return

    async def close(self) -> None:
        return


@pytest.fixture
async def store(clock: ManualClock) -> AsyncIterator[Store]:
    store = SqliteStore(None, clock=clock)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
def tokens(clock: ManualClock) -> Tokens:
    return Tokens(clock=clock, owner_token=OWNER_TOKEN)


@pytest.fixture
def accounts(store: Store, clock: ManualClock, tokens: Tokens) -> ServiceAccounts:
    return ServiceAccounts(
        accounts=store.accounts, attempts=store.attempts, clock=clock, tokens=tokens
    )


@pytest.fixture
async def issued(accounts: ServiceAccounts) -> IssuedSecret:
    return await accounts.create("p", NewAccount(name="bot", role=AccountRole.PROJECT_OWNER))


@pytest.fixture
def members(store: Store, clock: ManualClock, tokens: Tokens) -> MemberKeeping:
    return MemberKeeping(members=store.members, attempts=store.attempts, clock=clock, tokens=tokens)


async def token_of(accounts: ServiceAccounts, issued: IssuedSecret) -> str:
    return await accounts.issue_token(issued.account.client_id, issued.client_secret)


@pytest.fixture
def embedder() -> HashingEmbedder:
    return HashingEmbedder()


@pytest.fixture
def extractor() -> ScriptedExtractor:
    return ScriptedExtractor()


@pytest.fixture
def recording(
    store: Store, clock: ManualClock, ids: CountingIds, embedder: HashingEmbedder
) -> TurnRecording:
    return TurnRecording(
        turns=store.turns,
        clock=clock,
        ids=ids,
        embedder=embedder,
        embed_on_write=False,
        on_recorded=lambda: None,
    )


def a_turn(content: str = "hello", *, session: str = "s1", **changes: Any) -> TurnInput:
    return TurnInput(**{"session_id": session, "role": Role.USER, "content": content, **changes})


def a_fact(
    text: str,
    conversation: Conversation,
    *,
    claim: tuple[str, str] | None = None,
    event: EventTime | None = None,
    **changes: Any,
) -> Candidate:
    """Propose a fact that rests on the conversation's first turn."""
    given: Mapping[str, Any] = {
        "body": Fact(label="a_fact", text=text),
        "turn_ids": (conversation.turns[0].id,),
        "claim": Claim(subject="user", attribute=claim[0], value=claim[1], exclusive=True)
        if claim
        else None,
        "event_time": event,
    }
    return Candidate(**{**given, **changes})
