"""The embedded store: one SQLite file."""

from memory_server.storage.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
