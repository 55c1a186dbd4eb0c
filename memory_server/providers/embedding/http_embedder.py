"""Embedding with a model behind an HTTP API."""

import asyncio
from collections.abc import Sequence
from functools import partial

import httpx

from memory_server.domain.embedding import Embedded, EmbeddingSpace, Purpose, Vector
from memory_server.errors import KeyRejected, ProviderError, ProviderUnavailable
from memory_server.ports.embedder import Embedder
from memory_server.providers.embedding.http_answers import RequestRefused, outcomes
from memory_server.providers.embedding.http_api import EmbeddingsApi, Timeouts, embeddings_url
from memory_server.providers.embedding.http_batches import Asking, embed_in_batches
from memory_server.providers.embedding.vectors import embedded

PLAIN_WORD = "ready"
BROKEN_CONNECTION = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)
"""What a connection that was kept open looks like after the server gave it up."""


class HttpEmbedder(Embedder):
    """A provider's embeddings.

    Nothing is tried again, except once over a new connection when the old one broke: pacing is
    the caller's. No redirect is followed, so the key goes to the configured host only.
    """

    def __init__(self, api: EmbeddingsApi, *, timeouts: Timeouts | None = None) -> None:
        self._api = api
        self._timeouts = timeouts or Timeouts()
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(None, connect=self._timeouts.connect), follow_redirects=False
        )
        self._closed = False
        self._sending: set[asyncio.Task[httpx.Response]] = set()

    @property
    def space(self) -> EmbeddingSpace:
        return self._api.space

    async def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Embedded:
        if self._closed:
            raise _closed()
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
        self._closed = True
        for sending in self._sending:
            sending.cancel()
        await self._client.aclose()

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
            return outcomes(await self._post(api, texts, purpose), api, len(texts))
        except RequestRefused as refusal:
            simpler = api.simplified(refusal.why)
            if simpler is None:
                raise
        self._api = simpler
        return outcomes(await self._post(simpler, texts, purpose), simpler, len(texts))

    async def _post(
        self, api: EmbeddingsApi, texts: Sequence[str], purpose: Purpose
    ) -> httpx.Response:
        """Send one request that `close` can end."""
        if self._closed:
            raise _closed()
        sending = asyncio.ensure_future(self._answer(api, texts, purpose))
        self._sending.add(sending)
        sending.add_done_callback(self._sending.discard)
        try:
            await asyncio.wait([sending])
        finally:
            sending.cancel()
        if sending.cancelled():
            raise _closed()
        return sending.result()

    async def _answer(
        self, api: EmbeddingsApi, texts: Sequence[str], purpose: Purpose
    ) -> httpx.Response:
        seconds = self._timeouts.of(purpose)
        request = self._client.build_request(
            "POST",
            embeddings_url(api.base_url),
            json=api.body(texts, purpose),
            headers=_authorization(api),
        )
        try:
            async with asyncio.timeout(seconds):
                return await self._send(request)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise ProviderUnavailable(
                f"{api.provider} at {request.url.host} did not answer within {seconds:g} s."
            ) from error
        except httpx.TransportError as error:
            raise ProviderUnavailable(
                f"{api.provider} cannot be reached at {request.url.host}: "
                f"{str(error) or type(error).__name__}."
            ) from error

    async def _send(self, request: httpx.Request) -> httpx.Response:
        try:
            return await self._client.send(request)
        except BROKEN_CONNECTION:
            return await self._client.send(request)


def _authorization(api: EmbeddingsApi) -> dict[str, str]:
    """Return the header for the key; raises `KeyRejected` for a key that cannot be one."""
    if api.key is None or not api.key.strip():
        if api.key_name is None:
            return {}
        raise KeyRejected(f"{api.provider} needs a key: set {api.key_name}.")
    key = api.key.strip()
    if not (key.isascii() and key.isprintable()):
        raise KeyRejected(
            f"The value of {api.key_name or 'the embedding key'} holds characters that no key "
            "has; copy it again."
        )
    return {"Authorization": f"Bearer {key}"}


def _closed() -> ProviderUnavailable:
    return ProviderUnavailable("This embedder has been closed; build another.")
