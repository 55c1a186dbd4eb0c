"""The seam at which the driver's errors become the program's own.

Nothing of a connection string but its host names is in any of them, and nothing of what was to be
stored.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from bson.errors import InvalidDocument, InvalidStringData
from pymongo.errors import (
    BulkWriteError,
    ConfigurationError,
    ConnectionFailure,
    DocumentTooLarge,
    ExecutionTimeout,
    InvalidName,
    InvalidOperation,
    OperationFailure,
    PyMongoError,
)

from memory_server.errors import (
    InvalidRequest,
    MemoryServerError,
    StorageError,
    StorageFull,
    StorageUnavailable,
    StorageUnusable,
    TooLarge,
)

Explanation = tuple[type[MemoryServerError], str]

WRITE_CONFLICT = 112
"""The code of a write that another transaction is in the way of."""

_CREDENTIALS: Explanation = (
    StorageUnusable,
    "it rejects the user or the password: check both in MONGODB_URI, and that the user is one of "
    "this deployment",
)
_AWAY = (
    "it does not answer in time, or has no primary: see whether it runs, and check host, port and "
    "tls in MONGODB_URI; tried again until it does"
)
_BUSY = "other transactions keep in the way; the same call works when they are done"
_BY_CODE: Mapping[int, Explanation] = {
    13: (
        StorageUnusable,
        "the user may not do this: it needs the role readWrite on this database, and to list the "
        "databases unless MONGOMEM_DB_NAME ends in the project's id",
    ),
    18: _CREDENTIALS,
    20: (
        StorageUnusable,
        "it takes no transactions: use a replica set; of a single mongod, start it with "
        "--replSet rs0 and run rs.initiate() once",
    ),
    24: (StorageUnavailable, _BUSY),  # LockTimeout
    50: (StorageUnavailable, _AWAY),  # MaxTimeMSExpired
    WRITE_CONFLICT: (StorageUnavailable, _BUSY),
    10334: (TooLarge, "a document is larger than the database takes (16 MB)"),
    12501: (StorageFull, "its quota is used up: free some, or enlarge the deployment"),
    13297: (
        StorageUnusable,
        "a database whose name differs in capitals only is there: name that one with "
        "MONGOMEM_DB_NAME",
    ),
    14031: (StorageFull, "its disk is full: free some space; the same call then works"),
}
_TOO_OLD = "it is older than MongoDB 6.0, which is the oldest version that is supported: upgrade it"
_OF_ANSWERS: tuple[tuple[str, Explanation], ...] = (
    (r"bad auth|authentication failed", _CREDENTIALS),
    (
        r"space quota|over your .{0,30}quota|no space left|disk is full",
        (StorageFull, "it has no room left: free some, or enlarge the deployment"),
    ),
)
"""Answers that have no code of their own, by words in them."""
_OF_CONNECTIONS: tuple[tuple[str, Explanation], ...] = (
    (r"wire version|requires at least", (StorageUnusable, _TOO_OLD)),
    (
        r"^No replica set members available for replica set name",
        (
            StorageUnusable,
            "it is no member of the replica set that replicaSet names in MONGODB_URI: name its "
            "own, as rs.conf()._id says it, or leave the option out",
        ),
    ),
    (
        r"certificate verify failed|self.signed|hostname mismatch|IP address mismatch",
        (
            StorageUnusable,
            "its certificate is not trusted: name the authority's with tlsCAFile in "
            "MONGODB_URI, or SSL_CERT_FILE, and check the clock of this machine",
        ),
    ),
    (
        r"alert internal error|SSL handshake|TLSV1_ALERT|sslv3 alert|EOF occurred in violation",
        (
            StorageUnavailable,
            "it breaks off the encrypted connection: add this machine's address to the IP "
            "access list of the deployment (Atlas: Network Access), and check whether it "
            "wants tls=true; tried again until it answers",
        ),
    ),
    (
        r"DNS query name does not exist|Name or service not known|nodename nor servname|"
        r"No address associated|NXDOMAIN|getaddrinfo|DNS|name resolution|SRV",
        (
            StorageUnavailable,
            "its name is not found (DNS): check the host name in MONGODB_URI and the network; "
            "tried again until it is",
        ),
    ),
    (
        r"refused|Connect call failed|WinError 10061",
        (
            StorageUnavailable,
            "nothing listens there: start the deployment, or check host and port in "
            "MONGODB_URI; tried again until it answers",
        ),
    ),
)


@contextmanager
def translated(location: str) -> Iterator[None]:
    """Let nothing of the driver pass; `location` names the deployment without its credentials."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise InvalidRequest("a text holds half of a surrogate pair; send valid Unicode") from error
    except DocumentTooLarge as error:
        raise _raised(_BY_CODE[10334], location) from error
    except (InvalidDocument, InvalidStringData, OverflowError) as error:
        raise InvalidRequest(f"a value cannot be stored: {error}") from error
    except PyMongoError as error:
        raise _raised(explanation(error), location) from error


def unusable(location: str) -> StorageUnusable:
    """Return the error for a connection string that the driver does not take."""
    return StorageUnusable(
        f"{location}: MONGODB_URI cannot be used as a connection string: check its options, and "
        "that user name and password are escaped (@ is %40, : is %3A, / is %2F)"
    )


def too_old(location: str) -> StorageUnusable:
    """Return the error for a deployment of a version that is not supported."""
    return StorageUnusable(f"{location}: {_TOO_OLD}")


def standalone(location: str) -> MemoryServerError:
    """Return the error for a server that is no member of a replica set."""
    return _raised(_BY_CODE[20], location)


def overtaken(error: OperationFailure) -> OperationFailure:
    """Return the error by which a transaction is begun anew: what it was to make is there now."""
    return OperationFailure(str(error), error.code, {"errorLabels": ["TransientTransactionError"]})


def explanation(error: PyMongoError) -> Explanation:
    """Return the class of error that a failure of the driver is, and what to do about it."""
    code, words = _told(error)
    if code is not None and code in _BY_CODE:
        return _BY_CODE[code]
    table = _OF_ANSWERS if isinstance(error, OperationFailure) else _OF_CONNECTIONS
    for pattern, found in table:
        if re.search(pattern, words, re.IGNORECASE):
            return found
    if isinstance(error, (ConnectionFailure, ExecutionTimeout, InvalidOperation)) or error.timeout:
        return StorageUnavailable, _AWAY
    if error.has_error_label("TransientTransactionError"):
        return StorageUnavailable, _BUSY
    if isinstance(error, (ConfigurationError, InvalidName)):
        return (
            StorageUnusable,
            "MONGODB_URI or MONGOMEM_DB_NAME holds what the driver does not take",
        )
    kind = _code_name(error) or type(error).__name__
    return StorageError, f"it answers with the error {kind}" + (f" ({code})" if code else "")


def _raised(found: Explanation, location: str) -> MemoryServerError:
    kind, reason = found
    return kind(f"{location}: {reason}")


def _told(error: PyMongoError) -> tuple[int | None, str]:
    """Return the code and the words of an error; of a batch those of its first."""
    if isinstance(error, BulkWriteError):
        details = error.details or {}
        failed = [*details.get("writeErrors", ()), *details.get("writeConcernErrors", ())]
        first: Mapping[str, Any] = failed[0] if failed else {}
        return first.get("code"), str(first.get("errmsg", ""))
    if isinstance(error, OperationFailure):
        return error.code, str((error.details or {}).get("errmsg", error))
    return getattr(error, "code", None), str(error)


def _code_name(error: PyMongoError) -> str | None:
    details = getattr(error, "details", None)
    return details.get("codeName") if isinstance(details, Mapping) else None
