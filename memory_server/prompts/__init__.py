"""Prompts, one file each beside the model of its answer."""
