"""The `memory:` document of project-config.yaml: keys, defaults, limits and cross rules.

`load` reads a file, `parse` takes a delivered `memory:` mapping; both raise
`InvalidProjectConfig` with every problem at once. The keys are described by
`memory_config.schema.json` beside this module.
"""

from memory_server.project_config.build import embedding_of
from memory_server.project_config.comparing import (
    check_against_stored,
    differences,
    digest,
    needs_reembedding,
)
from memory_server.project_config.embedding_models import LOCAL_DIMENSIONS
from memory_server.project_config.keys import (
    OPENAI_URL,
    RequiredKey,
    effective_types_line,
    needs_no_key,
    required_keys,
    usable_keys,
)
from memory_server.project_config.loading import from_bytes, load, parse, parse_with_warnings
from memory_server.project_config.problem import Problem
from memory_server.project_config.scaffold import scaffold
from memory_server.project_config.schema import (
    SCHEMA_FILE,
    KnownKey,
    known_keys,
    load_schema,
    memory_schema,
)
from memory_server.project_config.values import (
    MEMORY_TYPES,
    BudgetConfig,
    CustomMemoryType,
    EmbeddingConfig,
    ExtractionLlmConfig,
    MemoryConfig,
    MemoryTypeName,
    Parsed,
    PartitionKey,
    ProjectConfig,
    SnapshotConfig,
)

__all__ = [
    "LOCAL_DIMENSIONS",
    "MEMORY_TYPES",
    "OPENAI_URL",
    "SCHEMA_FILE",
    "BudgetConfig",
    "CustomMemoryType",
    "EmbeddingConfig",
    "ExtractionLlmConfig",
    "KnownKey",
    "MemoryConfig",
    "MemoryTypeName",
    "Parsed",
    "PartitionKey",
    "Problem",
    "ProjectConfig",
    "RequiredKey",
    "SnapshotConfig",
    "check_against_stored",
    "differences",
    "digest",
    "effective_types_line",
    "embedding_of",
    "from_bytes",
    "known_keys",
    "load",
    "load_schema",
    "memory_schema",
    "needs_no_key",
    "needs_reembedding",
    "parse",
    "parse_with_warnings",
    "required_keys",
    "scaffold",
    "usable_keys",
]
