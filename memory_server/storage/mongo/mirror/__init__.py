"""The index of one server over a database that others change too: a cache, kept fresh."""

from memory_server.storage.mongo.mirror.index import MirroredIndex

__all__ = ["MirroredIndex"]
