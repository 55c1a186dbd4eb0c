"""What stands in for a provider whose key is not there."""

from collections.abc import AsyncIterator, Sequence

from memory_server.domain.candidate import Conversation, Extraction
from memory_server.domain.chunk import Chunk
from memory_server.domain.embedding import Embedded, EmbeddingSpace, Purpose
from memory_server.domain.memory import MemoryType
from memory_server.domain.past_questions import PastQuestion
from memory_server.domain.turn import Turn
from memory_server.errors import KeyMissing
from memory_server.ports.answerer import Answerer
from memory_server.ports.embedder import Embedder
from memory_server.ports.extractor import Extractor


class UnconfiguredEmbedder(Embedder):
    """Embeds nothing and says which key it misses; texts are stored without vectors."""

    def __init__(self, space: EmbeddingSpace, reason: str) -> None:
        self._space = space
        self._reason = reason

    @property
    def space(self) -> EmbeddingSpace:
        return self._space

    async def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Embedded:
        raise KeyMissing(self._reason)

    async def check(self) -> None:
        raise KeyMissing(self._reason)

    async def close(self) -> None:
        return


class UnconfiguredExtractor(Extractor):
    """Extracts nothing and says which key it misses; jobs wait for it."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def version(self, kind: MemoryType) -> str:
        return "unconfigured"

    async def extract(self, conversation: Conversation, kind: MemoryType) -> Extraction:
        raise KeyMissing(self._reason)

    async def check(self) -> None:
        raise KeyMissing(self._reason)

    async def close(self) -> None:
        return


class UnconfiguredAnswerer(Answerer):
    """Answers nothing and says which key it misses."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    @property
    def name(self) -> str:
        return "unconfigured"

    async def answer(
        self,
        message: str,
        *,
        context: str,
        chunks: Sequence[Chunk],
        recent: Sequence[Turn],
        past: PastQuestion | None = None,
    ) -> AsyncIterator[str]:
        raise KeyMissing(self._reason)
        yield ""  # pragma: no cover - makes this an asynchronous generator
