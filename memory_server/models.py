"""From settings to models: the configured ones, or stand-ins that say which key is missing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory_server.domain.embedding import EmbeddingSpace
from memory_server.ports.answerer import Answerer
from memory_server.ports.embedder import Embedder
from memory_server.ports.extractor import Extractor
from memory_server.ports.reranker import Reranker
from memory_server.project_config import EmbeddingConfig, ExtractionLlmConfig, required_keys
from memory_server.providers.answering.factory import build_answerer
from memory_server.providers.embedding.factory import build_embedder
from memory_server.providers.extraction.factory import build_extractor
from memory_server.providers.reranking.absent import NoReranker
from memory_server.providers.reranking.factory import build_reranker
from memory_server.providers.unconfigured import (
    UnconfiguredAnswerer,
    UnconfiguredEmbedder,
    UnconfiguredExtractor,
)
from memory_server.settings import Settings

LOCAL_EMBEDDING = EmbeddingConfig(provider="local", model="bge-small-en-v1.5", dimension=384)
LOCAL_EXTRACTION = ExtractionLlmConfig(provider="local")


@dataclass(frozen=True, slots=True, kw_only=True)
class Providers:
    """The models, and what readiness says about them."""

    embedder: Embedder
    extractor: Extractor
    answerer: Answerer
    embedding: Mapping[str, object]
    extraction: Mapping[str, object]
    reranker: Reranker = field(default_factory=lambda: NoReranker("no reranker is configured"))
    """Comes and goes with the embedder."""


Former = tuple[Settings, Providers]
"""Models that are in use, and the settings they were made from."""
Models = Callable[[Settings, Former | None], Providers]


def build_providers(settings: Settings, former: Former | None = None) -> Providers:
    """Make the configured models; one without its key is stood in for, and readiness says so.

    A former model of the same configuration and key is used again rather than loaded twice.
    """
    embedding, extraction = _choices(settings)
    was_embedding, was_extraction = _choices(former[0]) if former else (None, None)
    kept = former[1] if former else None
    keeps_embedding = kept is not None and embedding == was_embedding
    keeps_extraction = kept is not None and extraction == was_extraction
    return Providers(
        embedder=kept.embedder if kept and keeps_embedding else _embedder(embedding),
        reranker=kept.reranker if kept and keeps_embedding else _reranker(embedding),
        extractor=kept.extractor if kept and keeps_extraction else _extractor(extraction),
        answerer=kept.answerer if kept and keeps_extraction else _answerer(extraction),
        embedding={
            "provider": embedding.config.provider,
            "model": embedding.config.model,
            "dimension": embedding.config.dimension,
        },
        extraction={
            "provider": extraction.config.provider,
            "model": extraction.config.model,
            "enabled": list(settings.memory.enabled),
        },
    )


@dataclass(frozen=True, slots=True)
class _Embedding:
    config: EmbeddingConfig
    key: str | None = field(repr=False)
    missing: str | None


@dataclass(frozen=True, slots=True)
class _Extraction:
    config: ExtractionLlmConfig
    key: str | None = field(repr=False)
    missing: str | None


def _choices(settings: Settings) -> tuple[_Embedding, _Extraction]:
    """Return which models with which keys, or why there is no key."""
    embedding, extraction = settings.memory.embedding, settings.memory.extraction_llm
    if settings.local_models:
        embedding, extraction = LOCAL_EMBEDDING, LOCAL_EXTRACTION
    config = replace(settings.memory, embedding=embedding, extraction_llm=extraction)
    keys = {need.purpose: need.names for need in required_keys(config)}
    found = {purpose: _first(names, settings.secrets) for purpose, names in keys.items()}
    missing = {
        purpose: f"no key for {purpose}; looked for {', then '.join(names)} in the project's "
        "secrets and in .env"
        for purpose, names in keys.items()
        if found[purpose] is None
    }
    return (
        _Embedding(embedding, found.get("embedding"), missing.get("embedding")),
        _Extraction(extraction, found.get("extraction"), missing.get("extraction")),
    )


def _embedder(choice: _Embedding) -> Embedder:
    if choice.missing is not None:
        space = EmbeddingSpace(model=choice.config.model, dimension=choice.config.dimension)
        return UnconfiguredEmbedder(space, choice.missing)
    return build_embedder(choice.config, key=choice.key)


def _reranker(choice: _Embedding) -> Reranker:
    if choice.missing is not None:
        return NoReranker(choice.missing)
    return build_reranker(choice.config, key=choice.key)


def _extractor(choice: _Extraction) -> Extractor:
    if choice.missing is not None:
        return UnconfiguredExtractor(choice.missing)
    return build_extractor(choice.config, choice.key)


def _answerer(choice: _Extraction) -> Answerer:
    if choice.missing is not None:
        return UnconfiguredAnswerer(choice.missing)
    return build_answerer(choice.config, choice.key)


def _first(names: Sequence[str], given: Mapping[str, str]) -> str | None:
    return next((given[name] for name in names if name in given), None)
