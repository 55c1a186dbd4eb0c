"""Under which digest each stage's work is kept: what is the same is not done again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.digests import digest_of
from evaluation.pipelines import Pipeline

STORED_AS = 1
"""Raised when conversations are stored in another way by the same pipeline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Configurations:
    """The digests of one pipeline on one server."""

    pipeline: Pipeline
    server: Mapping[str, Any]
    """What of the server decides the figures."""

    @property
    def ingestion(self) -> str:
        """Of what is stored."""
        return digest_of("ingest", STORED_AS, self.pipeline.stores, self.server)

    def search(self, *, mode: str, depth: int) -> str:
        """Of what is found, and in which order."""
        return digest_of(
            "search", self.ingestion, self.pipeline.name, mode, depth, self.pipeline.searching()
        )
