"""A deployment that speaks MongoDB's protocol: one for the whole run.

A test uses the database that all tests share, which is emptied after it, or one of its own.

`MEMORY_TEST_MONGODB_URI` names a deployment to use; without it SecantusDB, a server from PyPI, is
started on loopback. Nothing of the product knows it.
"""

import importlib.util
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pymongo
import pytest
from pymongo.errors import PyMongoError

from memory_server.storage.mongo.collections import SCHEMA
from memory_server.storage.mongo.database import MongoDatabase
from memory_server.storage.mongo.schema import migrate
from tests.ports import free_port

NAMED = "MEMORY_TEST_MONGODB_URI"
START_SECONDS = 180


class DatabaseProcess:
    """A SecantusDB server over a directory, or over nothing that lasts."""

    def __init__(self, storage: Path | None = None, *options: str, port: int = 0) -> None:
        self._storage = storage
        self._options = options
        self.port = port or free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def uri(self) -> str:
        """Where it listens."""
        return f"mongodb://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it and return once it answers; skips the test where it is not installed."""
        if importlib.util.find_spec("secantus") is None:
            pytest.skip(
                f"needs a MongoDB deployment: install secantusdb (or set {NAMED}, which "
                "serves most of these tests)"
            )
        storage = ":memory:" if self._storage is None else str(self._storage)
        command = [sys.executable, "-m", "secantus", "--host", "127.0.0.1"]
        command += ["--port", str(self.port), "--storage-path", storage, "--log-level", "ERROR"]
        if self._storage is not None:
            command.append("--sync-on-commit")
        self._process = subprocess.Popen([*command, *self._options])  # noqa: S603 our own words
        _await_answer(self.uri, self._process)

    def kill(self) -> None:
        """End it as a crash does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def pause(self) -> None:
        """Let it answer nothing until it is resumed."""
        psutil.Process(self._running().pid).suspend()

    def resume(self) -> None:
        """Let it answer again."""
        psutil.Process(self._running().pid).resume()

    def stop(self) -> None:
        """End it in order."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()

    def _running(self) -> subprocess.Popen[bytes]:
        assert self._process is not None
        return self._process


@contextmanager
def deployment() -> Iterator[str]:
    """Yield the address of a deployment; skip where there is none to be had."""
    named = os.environ.get(NAMED)
    if named:
        yield named
        return
    process = DatabaseProcess()
    process.start()
    try:
        yield process.uri
    finally:
        process.stop()


@contextmanager
def a_database(uri: str) -> Iterator[str]:
    """Yield the name of a database of its own, which goes at the end."""
    name = f"memory_test_{uuid.uuid4().hex[:16]}"
    with pymongo.MongoClient[dict[str, object]](uri) as client:
        try:
            yield name
        finally:
            client.drop_database(name)


class SharedDatabase:
    """A database for one test after the other: to make its indexes takes longer than a test."""

    def __init__(self, uri: str, name: str, client: pymongo.MongoClient[dict[str, Any]]) -> None:
        self.uri = uri
        self.name = name
        self._database = client[name]
        self._version: int | None = None

    async def migrate(self, database: MongoDatabase) -> int:
        """Bring a database up to date, as the store does; this one but once."""
        if database.name != self.name:
            return await migrate(database)
        if self._version is None:
            self._version = await migrate(database)
        return self._version

    def empty(self) -> None:
        """Remove every document, and leave the collections with their indexes."""
        names = [one for one in self._database.list_collection_names() if one != SCHEMA]
        asked = [stage for name in names for stage in _one_of(name, is_first=name == names[0])]
        for row in self._database[names[0]].aggregate(asked) if names else []:
            self._database[row["collection"]].delete_many({})


def _one_of(collection: str, *, is_first: bool) -> list[dict[str, Any]]:
    """Return stages that find the name of a collection if it holds anything."""
    one: list[dict[str, Any]] = [
        {"$limit": 1},
        {"$project": {"_id": 0, "collection": {"$literal": collection}}},
    ]
    return one if is_first else [{"$unionWith": {"coll": collection, "pipeline": one}}]


@contextmanager
def shared_database(uri: str) -> Iterator[SharedDatabase]:
    """Yield a database for the tests of a run, which goes at the end."""
    with a_database(uri) as name, pymongo.MongoClient[dict[str, Any]](uri) as client:
        yield SharedDatabase(uri, name, client)


def _await_answer(uri: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            with pymongo.MongoClient[dict[str, object]](
                uri, serverSelectionTimeoutMS=500
            ) as client:
                client.admin.command("ping")
                return
        except PyMongoError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
