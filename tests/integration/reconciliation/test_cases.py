"""Every case, by the rules and by a model that answers as a good one would."""

from collections.abc import Iterator

import pytest

from memory_server.ports.store import Store
from tests.chat_server import ChatServer, running
from tests.clock import CountingIds, ManualClock
from tests.integration.reconciliation.cases import CASES, Case
from tests.integration.reconciliation.life import Life
from tests.integration.reconciliation.word_cases import WORD_CASES
from tests.integration.storage.sqlite_stores import InMemory


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with running() as server:
        yield server


EACH = [
    pytest.param(adapter, case, id=f"{adapter}: {case.name}")
    for case in (*CASES, *WORD_CASES)
    for adapter in case.adapters
]


class TestEndsAsItShould(InMemory):
    @pytest.mark.parametrize(("adapter", "case"), EACH)
    async def test_every_case(
        self,
        adapter: str,
        case: Case,
        store: Store,
        clock: ManualClock,
        ids: CountingIds,
        chat: ChatServer,
    ) -> None:
        life = Life(store=store, clock=clock, ids=ids, adapter=adapter, chat=chat)

        await life.live_through(*case.heard)

        await ends_as_expected(life, case)


async def ends_as_expected(life: Life, case: Case) -> None:
    """Hold what is remembered against what the case expects."""
    texts = await life.texts()
    assert list(life.actions) == list(case.actions), life.decisions
    assert all(decision["reason"] for decision in life.decisions)
    assert len(texts) == len(case.live), texts
    for words in case.live:
        assert any(all(word in text for word in words) for text in texts), (words, texts)
    assert not [text for text in texts for word in case.gone if word in text]
    if case.as_of:
        moment, term, said = case.as_of
        (found,) = await life.as_of(moment, term)
        assert said in found
