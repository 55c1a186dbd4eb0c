from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

import pytest

from memory_server.domain.candidate import Conversation, Extraction
from memory_server.domain.chunk import Chunk
from memory_server.domain.circuit import FAILURES, Admission
from memory_server.domain.embedding import Embedded, Purpose
from memory_server.domain.memory import MemoryType
from memory_server.domain.past_questions import PastQuestion
from memory_server.domain.retry import RetryPolicy
from memory_server.domain.turn import Turn
from memory_server.errors import (
    InvalidAnswer,
    KeyRejected,
    ProviderError,
    ProviderRateLimited,
    ProviderUnavailable,
)
from memory_server.ports.answerer import Answerer
from memory_server.ports.extractor import Extractor
from memory_server.providers.breaker import ProviderBreaker
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.providers.watched import (
    BELIEVED,
    Watch,
    WatchedAnswerer,
    WatchedEmbedder,
    WatchedExtractor,
)
from tests.clock import ManualClock
from tests.factories import a_snapshot

CONVERSATION = Conversation(snapshot=a_snapshot(), turns=())


class Model(Extractor, Answerer):
    """Fails as the test says; its check asks nobody."""

    def __init__(self) -> None:
        self.failure: ProviderError | None = None

    @property
    def name(self) -> str:
        return "model"

    def version(self, kind: MemoryType) -> str:
        return f"model/{kind.value}"

    async def extract(self, conversation: Conversation, kind: MemoryType) -> Extraction:
        if self.failure:
            raise self.failure
        return Extraction(candidates=(), calls=1)

    async def answer(
        self,
        message: str,
        *,
        context: str,
        chunks: Sequence[Chunk],
        recent: Sequence[Turn],
        past: PastQuestion | None = None,
    ) -> AsyncIterator[str]:
        yield "well"
        if self.failure:
            raise self.failure

    async def check(self) -> None:
        return

    async def close(self) -> None:
        return


@pytest.fixture
def noticed() -> list[str]:
    return []


@pytest.fixture
def breaker(clock: ManualClock) -> ProviderBreaker:
    return ProviderBreaker(purpose="extraction", provider="some", clock=clock, policy=RetryPolicy())


@pytest.fixture
def watch(clock: ManualClock, breaker: ProviderBreaker, noticed: list[str]) -> Watch:
    return Watch(clock=clock, breaker=breaker, on_failure=lambda: noticed.append("failure"))


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def extractor(model: Model, watch: Watch) -> WatchedExtractor:
    return WatchedExtractor(model, watch)


async def fail(extractor: WatchedExtractor, model: Model, error: ProviderError) -> None:
    model.failure = error
    with pytest.raises(type(error)):
        await extractor.extract(CONVERSATION, MemoryType.SEMANTIC)
    model.failure = None


async def test_failure_of_a_call_is_told_at_once_and_fails_the_check(
    extractor: WatchedExtractor, model: Model, noticed: list[str]
) -> None:
    await fail(extractor, model, KeyRejected("revoked"))

    assert noticed == ["failure"]
    with pytest.raises(KeyRejected, match="revoked"):
        await extractor.check()


async def test_call_that_works_ends_the_doubt(extractor: WatchedExtractor, model: Model) -> None:
    await fail(extractor, model, ProviderUnavailable())
    await extractor.extract(CONVERSATION, MemoryType.SEMANTIC)

    await extractor.check()


async def test_old_failure_is_not_believed_for_ever(
    extractor: WatchedExtractor, model: Model, clock: ManualClock
) -> None:
    await fail(extractor, model, ProviderUnavailable())
    clock.advance(by=BELIEVED - timedelta(seconds=1))
    with pytest.raises(ProviderUnavailable):
        await extractor.check()

    clock.advance(by=timedelta(seconds=1))

    await extractor.check()


@pytest.mark.parametrize("error", [InvalidAnswer(), ProviderRateLimited()])
async def test_failure_that_says_nothing_about_the_next_call_is_not_held_against_it(
    extractor: WatchedExtractor, model: Model, noticed: list[str], error: ProviderError
) -> None:
    await fail(extractor, model, error)

    await extractor.check()
    assert noticed == []


async def test_answer_that_breaks_off_is_noticed_too(
    extractor: WatchedExtractor, model: Model, watch: Watch
) -> None:
    model.failure = ProviderUnavailable()
    answer = WatchedAnswerer(model, watch).answer("hi", context="", chunks=(), recent=())

    with pytest.raises(ProviderUnavailable):
        assert [piece async for piece in answer] == []

    with pytest.raises(ProviderUnavailable):
        await extractor.check()


class Faulty(HashingEmbedder):
    """Fails in a way that nobody foresaw."""

    async def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Embedded:
        raise ZeroDivisionError("a detail")


async def test_fault_of_an_embedder_is_a_failure_like_others(
    watch: Watch, noticed: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ProviderError, match="ZeroDivisionError") as failed:
        await WatchedEmbedder(Faulty(), watch).embed(["a"], purpose=Purpose.QUERY)

    assert "a detail" not in str(failed.value)
    assert "a detail" in caplog.text
    assert noticed == ["failure"]


async def test_embedder_has_the_last_word_about_itself(watch: Watch, noticed: list[str]) -> None:
    inner = HashingEmbedder()
    embedder = WatchedEmbedder(inner, watch)
    inner.failure = ProviderUnavailable()
    with pytest.raises(ProviderUnavailable):
        await embedder.embed(["a"], purpose=Purpose.QUERY)
    inner.failure = None

    await embedder.check()

    watch.check()
    assert noticed == ["failure"]


async def test_calls_of_all_kinds_open_and_close_one_circuit(
    extractor: WatchedExtractor, watch: Watch, model: Model, breaker: ProviderBreaker
) -> None:
    answerer = WatchedAnswerer(model, watch)
    model.failure = ProviderUnavailable("away")
    for _ in range(FAILURES - 1):
        with pytest.raises(ProviderUnavailable):
            await extractor.extract(CONVERSATION, MemoryType.SEMANTIC)
    assert breaker.admit() is Admission.FREE
    with pytest.raises(ProviderUnavailable):
        [piece async for piece in answerer.answer("", context="", chunks=(), recent=())]
    assert breaker.admit() is None

    model.failure = None
    await extractor.extract(CONVERSATION, MemoryType.SEMANTIC)

    assert breaker.admit() is Admission.FREE


async def test_a_limit_of_rate_opens_the_circuit_and_blocks_nobody(
    extractor: WatchedExtractor, model: Model, breaker: ProviderBreaker
) -> None:
    model.failure = ProviderRateLimited(retry_after=30.0)
    with pytest.raises(ProviderRateLimited):
        await extractor.extract(CONVERSATION, MemoryType.SEMANTIC)

    await extractor.check()
    assert breaker.admit() is None
