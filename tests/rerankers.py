"""Rerankers that do as a test says."""

import asyncio
from collections.abc import Sequence

from memory_server.errors import ProviderError
from memory_server.ports.reranker import Reranker


class LastFirst(Reranker):
    """Finds each text more relevant than the one before. Hangs or fails where it is told to."""

    name = "last_first"
    candidates = 3
    weight = 1.0

    def __init__(self) -> None:
        self.failure: ProviderError | None = None
        self.hangs = False
        self.begun = asyncio.Event()
        self.ended = False
        self.texts: Sequence[str] = ()

    async def relevance(self, query: str, texts: Sequence[str]) -> Sequence[float | None]:
        self.texts = texts
        if self.failure is not None:
            raise self.failure
        if self.hangs:
            await self._hang()
        return [float(place) for place in range(len(texts))]

    async def _hang(self) -> None:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended = True

    async def close(self) -> None:
        return
