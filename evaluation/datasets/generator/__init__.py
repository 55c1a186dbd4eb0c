"""Synthetic conversations and questions in LongMemEval's schema, made from a seed by our grammar.

Every item says `"synthetic": true`: a score on it is never a score of LongMemEval.
"""

from evaluation.datasets.generator.generate import generate
from evaluation.datasets.generator.variants import VARIANTS, Variant

__all__ = ["VARIANTS", "Variant", "generate"]
