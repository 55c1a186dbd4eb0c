"""Whether a deployment has Atlas Search."""

from typing import Any

from pymongo.asynchronous.collection import AsyncCollection
from pymongo.errors import OperationFailure

from memory_server.search.atlas.deployment import run

_NONE = frozenset({115, 31082, 6047401})
"""CommandNotSupported and SearchNotEnabled, and what a server without a search process says."""

_UNKNOWN = frozenset({59, 40324})
"""CommandNotFound and an unknown stage: about search only if the message says so."""

_NAMES = (
    "$listsearchindexes",
    "createsearchindexes",
    "updatesearchindex",
    "$vectorsearch",
    "$search",
)


async def has_search(collection: AsyncCollection[dict[str, Any]]) -> bool:
    """Return whether the deployment of a collection has Atlas Search.

    Raises the driver's error where that cannot be told: an answer that is no answer to this must
    not decide how everything is searched from now on.
    """
    try:
        await run(collection, [{"$listSearchIndexes": {}}])
    except OperationFailure as error:
        if says_no(error):
            return False
        raise
    return True


def says_no(error: OperationFailure) -> bool:
    """Return whether an error says that there is no Atlas Search."""
    if error.code in _NONE:
        return True
    message = str((error.details or {}).get("errmsg", error)).lower()
    return error.code in _UNKNOWN and any(name in message for name in _NAMES)
