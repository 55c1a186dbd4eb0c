"""Extractors: rules that need nothing, and language models."""
