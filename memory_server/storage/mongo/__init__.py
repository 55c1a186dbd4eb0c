"""The store of several servers: one database of a MongoDB deployment."""

from memory_server.storage.mongo.clock import DatabaseClock
from memory_server.storage.mongo.database import MongoDatabase
from memory_server.storage.mongo.deployment import MongoDeployment
from memory_server.storage.mongo.naming import DEFAULT_BASE
from memory_server.storage.mongo.store import MongoStore

__all__ = ["DEFAULT_BASE", "DatabaseClock", "MongoDatabase", "MongoDeployment", "MongoStore"]
