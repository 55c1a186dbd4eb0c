"""From configuration to a reranker: that of the provider which embeds."""

from typing import assert_never

from memory_server.ports.reranker import Reranker
from memory_server.project_config import EmbeddingConfig
from memory_server.providers.embedding.factory import voyage_api
from memory_server.providers.embedding.onnx_bge import BgeSmall
from memory_server.providers.reranking.absent import NoReranker
from memory_server.providers.reranking.guarded import GuardedReranker
from memory_server.providers.reranking.local import LocalReranker
from memory_server.providers.reranking.voyage import VoyageReranker


def build_reranker(config: EmbeddingConfig, *, key: str | None) -> Reranker:
    """Return the reranker of the embedding provider; nothing is loaded or called before its use.

    Where there is none, or no key for it, its stand-in says so of every call.
    """
    match config.provider:
        case "voyage":
            return GuardedReranker(VoyageReranker(voyage_api(config, key)))
        case "local" if config.model == BgeSmall.space.model:
            return GuardedReranker(LocalReranker(BgeSmall()))
        case "local" | "openai":
            return NoReranker(
                f"there is no reranker beside the embedding model {config.model} of "
                f"{config.provider}: rerank works with {BgeSmall.space.model} (local) and voyage"
            )
        case _:
            assert_never(config.provider)
