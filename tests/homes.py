"""Where the servers of tests keep memory: SQLite, or a database of a MongoDB deployment.

`MEMORY_TEST_STORE` puts all tests over HTTP and of the installed command on one of them. Without
it they run on SQLite, and those of the marker `both_stores` on MongoDB too.
"""

import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

import pymongo
import pytest

from memory_server.ports.clock import Clock
from memory_server.ports.store import Store
from memory_server.storage.mongo import MongoDatabase, MongoStore
from memory_server.storage.sqlite.store import SqliteStore

NAMED = "MEMORY_TEST_STORE"
SQLITE, MONGODB = "sqlite", "mongodb"
KINDS = (SQLITE, MONGODB)


class Home(Protocol):
    """A place for the memory of one test, or of one server of many."""

    @property
    def environ(self) -> Mapping[str, str]:
        """What brings a server process here; a server that starts again finds what it kept."""

    def store(self, clock: Clock) -> Store:
        """Return a store here that nobody has opened."""


class InSqlite:
    """A file in the server's data directory, or memory."""

    @property
    def environ(self) -> Mapping[str, str]:
        return {}

    def store(self, clock: Clock) -> Store:
        return SqliteStore(None, clock=clock)


class InMongo:
    """A database of its own."""

    def __init__(self, uri: str, name: str) -> None:
        self._uri = uri
        self._name = name

    @property
    def environ(self) -> Mapping[str, str]:
        return {"MONGODB_URI": self._uri, "MONGOMEM_DB_NAME": self._name}

    def store(self, clock: Clock) -> Store:
        return MongoStore(MongoDatabase(self._uri, self._name), clock=clock)


def kinds(*, both: bool) -> tuple[str, ...]:
    """Return which stores a test runs on; raises `UsageError` for a name that is none."""
    named = os.environ.get(NAMED)
    if not named:
        return KINDS if both else (SQLITE,)
    if named not in KINDS:
        raise pytest.UsageError(f"{NAMED} is {named!r}; choose of {', '.join(KINDS)}")
    return (named,)


@contextmanager
def in_sqlite() -> Iterator[Home]:
    """Yield a home that needs nothing."""
    yield InSqlite()


@contextmanager
def in_mongodb(uri: str) -> Iterator[Home]:
    """Yield a home in a database that goes with it.

    Its name ends as a server of the project `local` would have it, so that it is the whole name.
    """
    name = f"memory_test_{uuid.uuid4().hex[:16]}_local"
    with pymongo.MongoClient[dict[str, object]](uri) as client:
        try:
            yield InMongo(uri, name)
        finally:
            client.drop_database(name)
