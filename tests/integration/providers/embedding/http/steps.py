"""What the tests of embedding over HTTP do."""

from collections.abc import Callable

from memory_server.domain.embedding import EmbeddingSpace, Purpose
from memory_server.ports.embedder import Embedder
from memory_server.providers.embedding.http_api import Timeouts
from memory_server.providers.embedding.http_embedder import HttpEmbedder

KEY = "sk-test-3f9a77aa"
SPACE = EmbeddingSpace(model="some-model", dimension=32)
PATIENCE = Timeouts(connect=5.0, query=30.0, documents=30.0)
IMPATIENCE = Timeouts(connect=0.2, query=0.2, documents=0.2)
Open = Callable[..., HttpEmbedder]


async def embed(embedder: Embedder, *texts: str) -> list[str | None]:
    """Return the reasons."""
    return list((await embedder.embed(texts, purpose=Purpose.DOCUMENT)).reasons)
