"""The composition root: with `models`, the one place that names concrete classes."""

from memory_server.bootstrap.build import build, join, succeed

__all__ = ["build", "join", "succeed"]
