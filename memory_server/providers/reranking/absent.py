"""What stands in where there is no reranker."""

from collections.abc import Sequence

from memory_server.errors import ProviderMissing
from memory_server.ports.reranker import Reranker


class NoReranker(Reranker):
    """Says of every call why nothing is reordered."""

    name = "no_rerank"
    candidates = 0
    weight = 0.0

    def __init__(self, reason: str) -> None:
        self._reason = reason

    async def relevance(self, query: str, texts: Sequence[str]) -> Sequence[float | None]:
        raise ProviderMissing(self._reason)

    async def close(self) -> None:
        return
