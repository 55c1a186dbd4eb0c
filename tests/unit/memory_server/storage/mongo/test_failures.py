from typing import Any

import pytest
from bson.errors import InvalidDocument
from pymongo.errors import (
    AutoReconnect,
    BulkWriteError,
    ConfigurationError,
    DocumentTooLarge,
    DuplicateKeyError,
    ExecutionTimeout,
    InvalidOperation,
    NetworkTimeout,
    NotPrimaryError,
    OperationFailure,
    PyMongoError,
    ServerSelectionTimeoutError,
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
from memory_server.storage.mongo.failures import translated

PLACE = "mongodb at h1:27017, database mdb_memory_shop"


def answered(code: int, words: str = "no", **details: Any) -> OperationFailure:
    return OperationFailure(words, code, {"code": code, "errmsg": words, **details})


def unreachable(words: str) -> ServerSelectionTimeoutError:
    return ServerSelectionTimeoutError(f"h1:27017: {words}, Timeout: 5s")


def raised(error: Exception) -> MemoryServerError:
    with pytest.raises(MemoryServerError) as caught, translated(PLACE):
        raise error
    return caught.value


@pytest.mark.parametrize(
    ("error", "kind", "fix"),
    [
        (answered(18, "Authentication failed."), StorageUnusable, "user or the password"),
        (answered(8000, "bad auth : Authentication failed."), StorageUnusable, "the password"),
        (answered(13, "not authorized on x to execute"), StorageUnusable, "readWrite"),
        (answered(20, "Transaction numbers are only allowed"), StorageUnusable, "rs.initiate"),
        (answered(13297, "db already exists with different case"), StorageUnusable, "capitals"),
        (ConfigurationError("requires at least 8 (MongoDB 4.2)"), StorageUnusable, "MongoDB 6.0"),
        (unreachable("certificate verify failed: self-signed"), StorageUnusable, "tlsCAFile"),
        (answered(8000, "you are over your space quota"), StorageFull, "no room left"),
        (answered(14031, "OutOfDiskSpace"), StorageFull, "disk is full"),
        (answered(12501, "quota exceeded"), StorageFull, "quota"),
        (answered(112, "WriteConflict"), StorageUnavailable, "in the way"),
        (answered(50, "operation exceeded time limit"), StorageUnavailable, "in time"),
        (
            unreachable("[Errno 111] Connect call failed ('h1', 27017)"),
            StorageUnavailable,
            "listens",
        ),
        (unreachable("[Errno -2] Name or service not known"), StorageUnavailable, "DNS"),
        (
            unreachable("SSL handshake failed: tlsv1 alert internal error"),
            StorageUnavailable,
            "access list",
        ),
        (
            ConfigurationError("The DNS query name does not exist: _mongodb._tcp.h."),
            StorageUnavailable,
            "DNS",
        ),
        (unreachable("No primary available for writes"), StorageUnavailable, "primary"),
        (unreachable("No servers found yet"), StorageUnavailable, "tls in MONGODB_URI"),
        (
            ServerSelectionTimeoutError(
                'No replica set members available for replica set name "rs1", Timeout: 5s'
            ),
            StorageUnusable,
            "replicaSet",
        ),
        (NetworkTimeout("h1:27017: timed out"), StorageUnavailable, "in time"),
        (AutoReconnect("connection closed"), StorageUnavailable, "in time"),
        (NotPrimaryError("not primary"), StorageUnavailable, "primary"),
        (ExecutionTimeout("timed out", 50), StorageUnavailable, "in time"),
        (
            InvalidOperation("Cannot use AsyncMongoClient after close"),
            StorageUnavailable,
            "in time",
        ),
        (answered(10334, "BSONObj size: 17000000"), TooLarge, "16 MB"),
        (DocumentTooLarge("BSON document too large"), TooLarge, "16 MB"),
        (InvalidDocument("cannot encode object"), InvalidRequest, "cannot be stored"),
        (OverflowError("MongoDB can only handle up to 8-byte ints"), InvalidRequest, "8-byte"),
        (
            answered(72, "InvalidOptions", codeName="InvalidOptions"),
            StorageError,
            "InvalidOptions (72)",
        ),
    ],
)
def test_each_failure_is_told_apart_with_its_place_and_its_fix(
    error: Exception, kind: type[MemoryServerError], fix: str
) -> None:
    found = raised(error)

    assert type(found) is kind
    assert fix in str(found)
    assert PLACE in str(found) or kind is InvalidRequest


def test_of_a_batch_the_first_failure_counts() -> None:
    failed = {"writeErrors": [{"code": 14031, "errmsg": "full", "op": {"content": "secret"}}]}

    assert type(raised(BulkWriteError(failed))) is StorageFull


def test_a_failure_shows_nothing_of_what_was_to_be_stored() -> None:
    told = 'E11000 duplicate key error dup key: { content: "my secret" }'
    errors: list[PyMongoError] = [
        DuplicateKeyError(told, 11000, {"errmsg": told, "codeName": "DuplicateKey"}),
        BulkWriteError(
            {"writeErrors": [{"code": 11000, "errmsg": told, "op": {"x": "my secret"}}]}
        ),
    ]

    assert not any("my secret" in str(raised(error)) for error in errors)


def test_half_of_a_surrogate_pair_is_the_callers_mistake() -> None:
    with pytest.raises(InvalidRequest, match="valid Unicode"), translated(PLACE):
        "\ud800".encode()
