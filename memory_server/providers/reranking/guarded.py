"""A reranker whose every failure is one that its callers know."""

import logging
from collections.abc import Sequence

from memory_server.errors import InvalidAnswer, ProviderError
from memory_server.ports.reranker import Reranker

logger = logging.getLogger(__name__)


class GuardedReranker(Reranker):
    """Whatever goes wrong in a call is a `ProviderError`: a search can do without the reranker."""

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker

    @property
    def name(self) -> str:
        return self._reranker.name

    @property
    def candidates(self) -> int:
        return self._reranker.candidates

    @property
    def weight(self) -> float:
        return self._reranker.weight

    async def relevance(self, query: str, texts: Sequence[str]) -> Sequence[float | None]:
        try:
            relevance = await self._reranker.relevance(query, texts)
        except ProviderError:
            raise
        except Exception as error:  # what no adapter foresaw must not cost an answer
            logger.exception("the reranker failed on a fault of the program")
            raise ProviderError(f"the reranker failed ({type(error).__name__})") from error
        if len(relevance) != len(texts):
            raise InvalidAnswer(f"{self.name} judged {len(relevance)} of {len(texts)} texts")
        return relevance

    async def close(self) -> None:
        await self._reranker.close()
