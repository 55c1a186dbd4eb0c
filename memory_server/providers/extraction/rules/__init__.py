"""Extraction by written rules: no model, no key, no network; English and Spanish."""

from memory_server.providers.extraction.rules.extractor import RuleExtractor

__all__ = ["RuleExtractor"]
