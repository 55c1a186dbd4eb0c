"""Fixtures of the tests that use real databases."""

from collections.abc import Iterator

import pytest

from memory_server.storage.mongo import store
from tests.mongo import SharedDatabase, shared_database


@pytest.fixture(scope="session")
def _shared_database(mongodb: str) -> Iterator[SharedDatabase]:
    with shared_database(mongodb) as shared:
        yield shared


@pytest.fixture
def mongo_database(
    _shared_database: SharedDatabase, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SharedDatabase]:
    """A database that holds nothing yet; whoever uses it is closed before the test is over."""
    monkeypatch.setattr(store, "migrate", _shared_database.migrate)
    yield _shared_database
    _shared_database.empty()
