"""Pipelines by name."""

from evaluation.pipelines.pipeline import Pipeline
from evaluation.pipelines.turns import Turns

PIPELINES = ("turns",)


def pipeline_of(name: str, *, rerank: bool = False) -> Pipeline:
    """Return the pipeline of a name that a suite takes."""
    match name:
        case "turns":
            return Turns()
        case _:
            raise NotImplementedError(name, rerank)
