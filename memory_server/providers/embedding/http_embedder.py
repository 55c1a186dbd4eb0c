"""Embedding with a model behind an HTTP API."""

from collections.abc import Sequence
from functools import partial

from memory_server.domain.embedding import Embedded, EmbeddingSpace, Purpose, Vector
from memory_server.errors import ProviderError
from memory_server.ports.embedder import Embedder
from memory_server.providers.embedding.http_answers import RequestRefused, outcomes
from memory_server.providers.embedding.http_api import EmbeddingsApi, Timeouts
from memory_server.providers.embedding.http_batches import Asking, embed_in_batches
from memory_server.providers.embedding.vectors import embedded
from memory_server.providers.http_client import HttpClient

PLAIN_WORD = "ready"


class HttpEmbedder(Embedder):
    """A provider's embeddings."""

    def __init__(self, api: EmbeddingsApi, *, timeouts: Timeouts | None = None) -> None:
        self._api = api
        self._timeouts = timeouts or Timeouts()
        self._client = HttpClient(
            connect_seconds=self._timeouts.connect,
            closed="This embedder has been closed; build another.",
        )

    @property
    def space(self) -> EmbeddingSpace:
        return self._api.space

    async def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Embedded:
        self._client.check_open()
        asking = Asking(
            ask=partial(self._ask, purpose=purpose),
            check_request=partial(self._check_request, purpose),
        )
        return embedded(await embed_in_batches(asking, texts, self._api.limits))

    async def check(self) -> None:
        answer = await self.embed([PLAIN_WORD], purpose=Purpose.QUERY)
        if answer.reasons[0] is not None:
            raise ProviderError(f"{self._api.provider} cannot embed a word: {answer.reasons[0]}")

    async def close(self) -> None:
        await self._client.close()

    async def _check_request(self, purpose: Purpose) -> None:
        try:
            await self._ask([PLAIN_WORD], purpose=purpose)
        except RequestRefused as refusal:
            raise ProviderError(
                f"{self._api.provider} refuses every request for {self.space.model}: "
                f"{refusal.why}. Check memory.embedding: model, dimension and base_url."
            ) from refusal

    async def _ask(self, texts: Sequence[str], *, purpose: Purpose) -> Sequence[Vector | str]:
        api = self._api
        try:
            return await self._outcomes(api, texts, purpose)
        except RequestRefused as refusal:
            simpler = api.simplified(refusal.why)
            if simpler is None:
                raise
        self._api = simpler
        return await self._outcomes(simpler, texts, purpose)

    async def _outcomes(
        self, api: EmbeddingsApi, texts: Sequence[str], purpose: Purpose
    ) -> Sequence[Vector | str]:
        answer = await self._client.post(
            api, "embeddings", api.body(texts, purpose), seconds=self._timeouts.of(purpose)
        )
        return outcomes(answer, api, len(texts))
