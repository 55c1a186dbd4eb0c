"""Providers whose failures are noticed where they happen, in the calls that do the work."""

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime, timedelta

from memory_server.domain.candidate import Conversation, Extraction
from memory_server.domain.chunk import Chunk
from memory_server.domain.embedding import Embedded, EmbeddingSpace, Purpose
from memory_server.domain.memory import MemoryType
from memory_server.domain.past_questions import PastQuestion
from memory_server.domain.turn import Turn
from memory_server.errors import (
    InputTooLong,
    InvalidAnswer,
    ProviderError,
    ProviderRateLimited,
    Refused,
)
from memory_server.ports.answerer import Answerer
from memory_server.ports.clock import Clock
from memory_server.ports.embedder import Embedder
from memory_server.ports.extractor import Extractor
from memory_server.providers.breaker import ProviderBreaker

logger = logging.getLogger(__name__)

BELIEVED = timedelta(minutes=40)
"""How long a failure counts without news: work that waits is tried again sooner than that."""
PASSING = (Refused, InvalidAnswer, InputTooLong, ProviderRateLimited)
"""Failures that say nothing about whether the next call works."""


class Watch:
    """What the last call of a provider told about it, for readiness and for its breaker."""

    def __init__(
        self, *, clock: Clock, breaker: ProviderBreaker, on_failure: Callable[[], None]
    ) -> None:
        self._clock = clock
        self._breaker = breaker
        self._on_failure = on_failure
        self._failure: ProviderError | None = None
        self._failed_at: datetime | None = None

    def failed(self, error: ProviderError) -> None:
        """Note that a call failed."""
        self._breaker.failed(error)
        if isinstance(error, PASSING):
            return
        self._failure, self._failed_at = error, self._clock.now()
        self._on_failure()

    def worked(self) -> None:
        """Note that a call was answered."""
        self._breaker.worked()
        self._forget()

    def check(self) -> None:
        """Raise the failure that the last call ended with, unless that is long ago."""
        if self._failure is None or self._failed_at is None:
            return
        if self._clock.now() - self._failed_at < BELIEVED:
            raise type(self._failure)(str(self._failure), **self._failure.details)
        self._forget()

    def _forget(self) -> None:
        self._failure = self._failed_at = None


class WatchedEmbedder(Embedder):
    """An embedder under watch. Its check is a call like others, so that it has the last word.

    Whatever goes wrong in a call is a `ProviderError`: those who call can do without vectors.
    """

    def __init__(self, embedder: Embedder, watch: Watch) -> None:
        self._embedder = embedder
        self._watch = watch

    @property
    def space(self) -> EmbeddingSpace:
        return self._embedder.space

    async def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Embedded:
        try:
            embedded = await self._embedder.embed(texts, purpose=purpose)
        except ProviderError as error:
            self._watch.failed(error)
            raise
        except Exception as error:  # what no adapter foresaw must not cost a turn or a search
            logger.exception("the embedding model failed on a fault of the program")
            failure = ProviderError(f"the embedding model failed ({type(error).__name__})")
            self._watch.failed(failure)
            raise failure from error
        if texts:
            self._watch.worked()
        return embedded

    async def check(self) -> None:
        await self._embedder.check()
        self._watch.worked()

    async def close(self) -> None:
        await self._embedder.close()


class WatchedExtractor(Extractor):
    """An extractor under watch. Its check may ask nobody, so a call's failure outweighs it."""

    def __init__(self, extractor: Extractor, watch: Watch) -> None:
        self._extractor = extractor
        self._watch = watch

    def version(self, kind: MemoryType) -> str:
        return self._extractor.version(kind)

    async def extract(self, conversation: Conversation, kind: MemoryType) -> Extraction:
        try:
            extraction = await self._extractor.extract(conversation, kind)
        except ProviderError as error:
            self._watch.failed(error)
            raise
        if extraction.calls:
            self._watch.worked()
        return extraction

    async def check(self) -> None:
        await self._extractor.check()
        self._watch.check()

    async def close(self) -> None:
        await self._extractor.close()


class WatchedAnswerer(Answerer):
    """An answerer under the watch of the extractor, whose model it shares."""

    def __init__(self, answerer: Answerer, watch: Watch) -> None:
        self._answerer = answerer
        self._watch = watch

    @property
    def name(self) -> str:
        return self._answerer.name

    async def answer(
        self,
        message: str,
        *,
        context: str,
        chunks: Sequence[Chunk],
        recent: Sequence[Turn],
        past: PastQuestion | None = None,
    ) -> AsyncIterator[str]:
        try:
            async for piece in self._answerer.answer(
                message, context=context, chunks=chunks, recent=recent, past=past
            ):
                yield piece
        except ProviderError as error:
            self._watch.failed(error)
            raise
        self._watch.worked()
