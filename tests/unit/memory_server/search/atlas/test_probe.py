"""A deployment has no Atlas Search when it says so, and not when it says anything else."""

import pytest
from pymongo.errors import OperationFailure

from memory_server.search.atlas.probe import has_search, says_no
from tests.atlas import AtlasStandIn, index_error

NO = [
    (115, "Search index commands are only supported with Atlas."),
    (31082, "Using $search and $vectorSearch aggregation stages requires additional configuration"),
    (6047401, "$listSearchIndexes stage is only allowed on MongoDB Atlas"),
    (59, "no such command: 'createSearchIndexes'"),
    (40324, "Unrecognized pipeline stage name: '$listSearchIndexes'"),
]
NO_ANSWER = [
    (13, "not authorized on app to execute command"),
    (8000, "bad auth : authentication failed"),
    (59, "no such command: 'hello'"),
    (40324, "Unrecognized pipeline stage name: '$rankFusion'"),
    (6, "Error connecting to localhost:28000 :: caused by :: Connection refused"),
    (189, "primary stepped down while $listSearchIndexes ran"),
]


class Refusing:
    """A collection that answers with an error."""

    def __init__(self, error: OperationFailure) -> None:
        self._error = error

    def with_options(self, **_options: object) -> "Refusing":
        return self

    async def aggregate(self, _pipeline: object) -> None:
        raise self._error


@pytest.mark.parametrize(("code", "message"), NO)
async def test_what_says_no(code: int, message: str) -> None:
    assert await has_search(Refusing(index_error(message, code))) is False  # type: ignore[arg-type]


@pytest.mark.parametrize(("code", "message"), NO_ANSWER)
async def test_what_says_nothing_of_search_is_raised(code: int, message: str) -> None:
    with pytest.raises(OperationFailure, match=message[:9]):
        await has_search(Refusing(index_error(message, code)))  # type: ignore[arg-type]


def test_an_error_without_details_is_read_by_its_message() -> None:
    assert says_no(OperationFailure("no such command: createSearchIndexes", 59))


async def test_whoever_lists_indexes_has_search() -> None:
    atlas = AtlasStandIn({"memory_turns": None})  # type: ignore[arg-type]

    assert await has_search(atlas["memory_turns"]) is True
