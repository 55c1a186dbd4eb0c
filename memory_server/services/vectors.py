"""The vector of what somebody waits to have stored."""

import asyncio
import logging
from collections.abc import Sequence

from memory_server.domain.embedding import Purpose, Vector
from memory_server.errors import ProviderError
from memory_server.ports.embedder import Embedder

logger = logging.getLogger(__name__)

WAIT_SECONDS = 10.0
"""How long a write waits for its vector: a third of what the official clients wait for an answer.
Many long texts at once need more than that, and would all be late."""


async def vector_in_time(embedder: Embedder, text: str, *, of: str) -> Vector | None:
    """Return a text's vector; None if there is none now, for which nothing is lost.

    Words find what is stored without a vector, and background work gives it one. `of` says in
    the log what that is.
    """
    (vector,) = await vectors_in_time(embedder, [text], of=of)
    return vector


async def vectors_in_time(
    embedder: Embedder, texts: Sequence[str], *, of: str
) -> Sequence[Vector | None]:
    """Return the vectors of texts that are stored together, as `vector_in_time` does."""
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            embedded = await embedder.embed(texts, purpose=Purpose.DOCUMENT)
    except ProviderError as error:
        logger.warning("%s is stored without a vector: %s", of, error.code)
        return [None] * len(texts)
    except TimeoutError:
        logger.warning("%s is stored without a vector yet: the model is busy", of)
        return [None] * len(texts)
    return embedded.vectors
