"""The ways of remembering a conversation and of asking for it, over the server's client."""

from evaluation.pipelines.choosing import pipeline_of
from evaluation.pipelines.pipeline import Ingested, Pipeline, Searched

__all__ = ["Ingested", "Pipeline", "Searched", "pipeline_of"]
