"""Embedders of both providers, asked of a server on this machine."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack

import pytest

from memory_server.providers.embedding.http_api import EmbeddingsApi, Timeouts
from memory_server.providers.embedding.http_embedder import HttpEmbedder
from memory_server.providers.embedding.http_openai import OpenAi
from memory_server.providers.embedding.http_voyage import Voyage
from tests.integration.providers.embedding.embedding_server import EmbeddingServer, serving
from tests.integration.providers.embedding.http.steps import KEY, PATIENCE, SPACE, Open


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with serving(SPACE.dimension) as server:
        yield server


@pytest.fixture
async def opened() -> AsyncIterator[Callable[[EmbeddingsApi], HttpEmbedder]]:
    """Builds embedders and closes them."""
    async with AsyncExitStack() as stack:

        def build(api: EmbeddingsApi, timeouts: Timeouts = PATIENCE) -> HttpEmbedder:
            embedder = HttpEmbedder(api, timeouts=timeouts)
            stack.push_async_callback(embedder.close)
            return embedder

        yield build


@pytest.fixture(params=[Voyage, OpenAi], ids=["voyage", "openai"])
def api(request: pytest.FixtureRequest, server: EmbeddingServer) -> EmbeddingsApi:
    built: EmbeddingsApi = request.param(space=SPACE, key=KEY, base_url=server.address)
    return built


@pytest.fixture
def embedder(api: EmbeddingsApi, opened: Open) -> HttpEmbedder:
    return opened(api)


@pytest.fixture
def voyage(server: EmbeddingServer, opened: Open) -> HttpEmbedder:
    return opened(Voyage(space=SPACE, key=KEY, base_url=server.address))


@pytest.fixture
def openai(server: EmbeddingServer, opened: Open) -> HttpEmbedder:
    return opened(OpenAi(space=SPACE, key=KEY, base_url=server.address))
