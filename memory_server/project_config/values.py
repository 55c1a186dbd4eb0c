"""The `memory:` document as values: every default filled in, nothing left to interpret."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from memory_server.project_config.problem import Place, Problem, Steps

MemoryTypeName = Literal["semantic", "episodic", "taxonomic", "procedural"]
MEMORY_TYPES: tuple[MemoryTypeName, ...] = ("semantic", "episodic", "taxonomic", "procedural")


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingConfig:
    """Which embedding model."""

    provider: Literal["local", "voyage", "openai"]
    model: str
    dimension: int
    base_url: str | None = None
    api_key_secret: str | None = None

    @property
    def space(self) -> str:
        """The name of the space its vectors are in."""
        return f"{self.model}@{self.dimension}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionLlmConfig:
    """Which model extracts."""

    provider: Literal["local", "openai", "anthropic", "gemini", "cerebras"]
    model: str | None = None
    """None: the provider's default."""
    base_url: str | None = None
    api_key_secret: str | None = None
    auth_header: Literal["authorization", "api-key"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetConfig:
    """How much each project's extraction may take of the model an hour; None: any amount."""

    calls_per_hour: int | None = None
    tokens_per_hour: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotConfig:
    """When turns are promoted, and how long they stay."""

    max_messages: int = 20
    stale_minutes: int = 3
    embed_stm_before_promotion: bool = True
    topic_shift_enabled: bool = False
    topic_shift_threshold: float = 0.35
    delete_promoted: bool = False
    ttl_days: int = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionKey:
    """A metadata path that filters may use."""

    name: str
    type: Literal["string", "number", "boolean", "date"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomMemoryType:
    """A memory type of the user's own."""

    name: str
    collection: str
    tags: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryConfig:
    """The whole document, every default filled in."""

    log_level: Literal["debug", "info", "warning", "error", "critical"] = "info"
    embedding: EmbeddingConfig
    embed_on_write: bool = False
    extraction_llm: ExtractionLlmConfig
    snapshot: SnapshotConfig = field(default_factory=SnapshotConfig)
    enabled: Sequence[MemoryTypeName] = ()
    """The types extracted, in order, folds resolved."""
    enabled_by_absence: bool = False
    """Whether every type is on because the key is absent."""
    approval: Literal["automatic", "manual"] = "automatic"
    """Whether what is extracted is remembered at once, or waits until somebody approves it."""
    budget: BudgetConfig = field(default_factory=BudgetConfig)
    custom_memory_types: Sequence[CustomMemoryType] = ()
    partition_keys: Sequence[PartitionKey] = ()
    partition_index: Mapping[str, Literal["text", "vector", "both"]] = field(default_factory=dict)
    """By source as it is written in the document: semantic, ..., short_term."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A valid `memory:` mapping, and what its author should know about it."""

    config: MemoryConfig
    warnings: Sequence[Problem] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectConfig:
    """A valid project-config.yaml."""

    path: Path
    memory_only: bool
    memory: Mapping[str, Any]
    """The `memory:` mapping as it was written, fit for JSON: what is stored and delivered."""
    config: MemoryConfig
    warnings: Sequence[Problem] = ()
    places: Mapping[Steps, Place] = field(default_factory=dict, repr=False)
    """Where each value of the file stands."""
