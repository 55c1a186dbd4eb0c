"""From a valid `memory:` mapping to the typed configuration."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memory_server.project_config.embedding_models import (
    DEFAULT_EMBEDDING_MODELS,
    DEFAULT_VOYAGE_DIMENSION,
    own_dimension,
)
from memory_server.project_config.rules import FOLDED
from memory_server.project_config.values import (
    MEMORY_TYPES,
    BudgetConfig,
    CustomMemoryType,
    EmbeddingConfig,
    ExtractionLlmConfig,
    MemoryConfig,
    MemoryTypeName,
    PartitionKey,
    SnapshotConfig,
)


def build(memory: Mapping[str, Any]) -> MemoryConfig:
    """Fill in every default of a mapping that was found valid."""
    listed = memory.get("extraction", {}).get("enabled")
    return MemoryConfig(
        log_level=memory.get("log_level", "info"),
        embedding=embedding_of(memory),
        embed_on_write=memory.get("short_term", {}).get("embed_on_write", False),
        extraction_llm=ExtractionLlmConfig(
            **{"provider": "openai", **memory.get("extraction_llm", {})}
        ),
        snapshot=SnapshotConfig(**memory.get("background_extraction", {}).get("snapshot", {})),
        enabled=MEMORY_TYPES if listed is None else _folded(listed),
        enabled_by_absence=listed is None,
        approval=memory.get("extraction", {}).get("approval", "automatic"),
        budget=BudgetConfig(**memory.get("extraction", {}).get("budget", {})),
        custom_memory_types=tuple(map(_custom_type, memory.get("custom_memory_types", ()))),
        partition_keys=tuple(PartitionKey(**key) for key in partition_keys_of(memory)),
        partition_index={
            source: legs[0] for source, legs in memory.get("metadata_partition_index", {}).items()
        },
    )


def embedding_of(memory: Mapping[str, Any]) -> EmbeddingConfig:
    """Return the embedding model a mapping chooses, by `embedding`, `voyage` or neither."""
    if "embedding" not in memory:
        voyage = memory.get("voyage", {})
        return EmbeddingConfig(
            provider="voyage",
            model=voyage.get("model", DEFAULT_EMBEDDING_MODELS["voyage"]),
            dimension=voyage.get("dimension", DEFAULT_VOYAGE_DIMENSION),
        )
    given = {name: value for name, value in memory["embedding"].items() if value is not None}
    given.setdefault("model", DEFAULT_EMBEDDING_MODELS[given["provider"]])
    given.setdefault("dimension", own_dimension(given["provider"], given["model"]))
    return EmbeddingConfig(**given)


def partition_keys_of(memory: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the declared partition keys as they are written."""
    keys: Sequence[Mapping[str, Any]] = memory.get("metadata_partition_key", ())
    return keys


def _folded(names: Iterable[str]) -> tuple[MemoryTypeName, ...]:
    """Return the types in their order, each once, folded ones as semantic."""
    wanted = dict.fromkeys("semantic" if name in FOLDED else name for name in names)
    by_name = {str(each): each for each in MEMORY_TYPES}
    return tuple(by_name[name] for name in wanted)


def _custom_type(declared: Mapping[str, Any]) -> CustomMemoryType:
    return CustomMemoryType(
        name=declared["name"],
        collection=declared["collection"],
        tags=tuple(tag["name"] for tag in declared.get("tags", ())),
    )
