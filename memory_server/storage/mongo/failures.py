"""The seam at which the driver's errors become the program's own."""

from collections.abc import Iterator
from contextlib import contextmanager

from bson.errors import InvalidDocument, InvalidStringData
from pymongo.errors import OperationFailure, PyMongoError

from memory_server.errors import InvalidRequest, StorageUnavailable, TooLarge

_TOO_LARGE = 10334
"""BSONObjectTooLarge."""


@contextmanager
def translated(location: str) -> Iterator[None]:
    """Let nothing of the driver pass; `location` names the deployment without its credentials."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise InvalidRequest("a text holds half of a surrogate pair; send valid Unicode") from error
    except (InvalidDocument, InvalidStringData, OverflowError) as error:
        raise InvalidRequest(f"a value cannot be stored: {error}") from error
    except PyMongoError as error:
        raise _explained(error, location) from error


def overtaken(error: OperationFailure) -> OperationFailure:
    """Return the error by which a transaction is begun anew: what it was to make is there now."""
    return OperationFailure(str(error), error.code, {"errorLabels": ["TransientTransactionError"]})


def _explained(error: PyMongoError, location: str) -> Exception:
    if getattr(error, "code", None) == _TOO_LARGE:
        return TooLarge(f"{location}: a document is larger than the database takes")
    return StorageUnavailable(f"{location}: {error}")
