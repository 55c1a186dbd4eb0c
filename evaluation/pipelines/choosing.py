"""Pipelines by name."""

from typing import assert_never

from evaluation.pipelines.blocks import Blocks
from evaluation.pipelines.extracted import Extracted
from evaluation.pipelines.mixed import Mixed
from evaluation.pipelines.pipeline import Pipeline
from evaluation.pipelines.turns import Turns
from evaluation.suite import PipelineName


def pipeline_of(name: PipelineName, *, rerank: bool = False) -> Pipeline:
    """Return a pipeline; only `mixed` can have its finds reranked."""
    match name:
        case "turns":
            return Turns()
        case "blocks":
            return Blocks()
        case "extracted":
            return Extracted()
        case "mixed":
            return Mixed(rerank=rerank)
        case _:
            assert_never(name)
