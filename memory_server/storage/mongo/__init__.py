"""The store of several servers: one database of a MongoDB deployment."""

from memory_server.storage.mongo.store import MongoStore

__all__ = ["MongoStore"]
