"""From settings to models: the configured ones, or stand-ins that say which key is missing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory_server.domain.embedding import EmbeddingSpace
from memory_server.domain.limits import MAX_READ_OF_CONVERSATION, MAX_READ_OF_TURN
from memory_server.ports.answerer import Answerer
from memory_server.ports.embedder import Embedder
from memory_server.ports.extractor import Extractor
from memory_server.ports.reranker import Reranker
from memory_server.project_config import (
    EmbeddingConfig,
    ExtractionLlmConfig,
    MemoryConfig,
    required_keys,
    usable_keys,
)
from memory_server.providers.answering.factory import build_answerer
from memory_server.providers.embedding.factory import build_embedder
from memory_server.providers.extraction.chat import DEFAULT_MODELS
from memory_server.providers.extraction.factory import build_extractor
from memory_server.providers.reranking.absent import NoReranker
from memory_server.providers.reranking.factory import build_reranker
from memory_server.providers.unconfigured import (
    UnconfiguredAnswerer,
    UnconfiguredEmbedder,
    UnconfiguredExtractor,
)
from memory_server.settings import Settings

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
    target: Embedder | None = None
    """The embedder whose vectors are being made to take the place of the former ones."""


Former = tuple[Settings, Providers]
"""Models that are in use, and the settings they were made from."""
Models = Callable[[Settings, Former | None], Providers]


def build_providers(settings: Settings, former: Former | None = None) -> Providers:
    """Make the configured models; one without its key is stood in for, and readiness says so.

    A former model of the same configuration and key is used again rather than loaded twice.
    """
    embedding, target, extraction = _choices(settings)
    was_embedding, _, was_extraction = _choices(former[0]) if former else (None, None, None)
    kept = former[1] if former else None
    keeps_embedding = kept is not None and embedding == was_embedding
    keeps_extraction = kept is not None and extraction == was_extraction
    made = _made(former)
    return Providers(
        embedder=made.get(embedding) or _embedder(embedding),
        target=None if target is None else made.get(target) or _embedder(target),
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
            "model": extraction.config.model or DEFAULT_MODELS.get(extraction.config.provider),
            "enabled": list(settings.memory.enabled),
            **_reads(extraction.config),
        },
    )


def _reads(config: ExtractionLlmConfig) -> Mapping[str, str]:
    """Tell how much rules read; a language model reads all, a part at a time."""
    if config.provider != LOCAL_EXTRACTION.provider:
        return {}
    return {
        "reads": f"{MAX_READ_OF_TURN:,} characters of a turn, "
        f"{MAX_READ_OF_CONVERSATION:,} of a conversation"
    }


@dataclass(frozen=True, slots=True)
class _Embedding:
    """A model and its key; two of the same are the same model."""

    config: EmbeddingConfig
    key: str | None = field(repr=False)
    missing: str | None


@dataclass(frozen=True, slots=True)
class _Extraction:
    config: ExtractionLlmConfig
    key: str | None = field(repr=False)
    missing: str | None


def _choices(settings: Settings) -> tuple[_Embedding, _Embedding | None, _Extraction]:
    """Return which models with which keys, or why there is no key.

    The embedding model is the one of the stored vectors, then the one that is to take its place.
    """
    extraction = LOCAL_EXTRACTION if settings.local_models else settings.memory.extraction_llm
    config = replace(settings.memory, extraction_llm=extraction)
    return (
        _embedding(settings, settings.answers or settings.embedding),
        None if settings.target is None else _embedding(settings, settings.target),
        _Extraction(extraction, *_key(settings, config, "extraction")),
    )


def _embedding(settings: Settings, chosen: EmbeddingConfig) -> _Embedding:
    config = replace(settings.memory, embedding=chosen)
    return _Embedding(chosen, *_key(settings, config, "embedding"))


def _key(settings: Settings, config: MemoryConfig, purpose: str) -> tuple[str | None, str | None]:
    """Return the key of a model, or why there is none though it needs one."""
    names = next((need.names for need in usable_keys(config) if need.purpose == purpose), None)
    if names is None:
        return None, None
    key = _first(names, settings.secrets)
    if key is None and all(need.purpose != purpose for need in required_keys(config)):
        return None, None
    looked = ", then ".join(names)
    missing = f"no key for {purpose}; looked for {looked} in the project's secrets and in .env"
    return key, missing if key is None else None


def _made(former: Former | None) -> Mapping[_Embedding, Embedder]:
    """Return the embedders that are in use, by what they were made from."""
    if former is None:
        return {}
    embedding, target, _ = _choices(former[0])
    made = {embedding: former[1].embedder}
    if target is not None and former[1].target is not None:
        made[target] = former[1].target
    return made


def _embedder(choice: _Embedding) -> Embedder:
    """Return a model, or what says why there is none: a former one may be gone by now."""
    space = EmbeddingSpace(model=choice.config.model, dimension=choice.config.dimension)
    if choice.missing is not None:
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
