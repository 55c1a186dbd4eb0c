"""The page about MongoDB names everything that is made in a database."""

from pathlib import Path

import pytest

from memory_server.storage.mongo import collections

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "use-mongodb.md"
MADE = [
    *(value for name, value in vars(collections).items() if name.isupper() and name != "MEMORIES"),
    *collections.MEMORIES.values(),
]


@pytest.mark.parametrize("collection", MADE)
def test_collection_is_explained(collection: str) -> None:
    assert f"`{collection}`" in PAGE.read_text(encoding="utf-8")
