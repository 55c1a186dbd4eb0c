"""Errors of the store."""

from memory_server.errors.root import MemoryServerError


class StorageError(MemoryServerError):
    """The store failed."""

    code = "STORAGE_ERROR"


class StorageUnavailable(StorageError):
    """The store does not answer."""

    code = "STORAGE_UNAVAILABLE"
    retryable = True


class StorageUnusable(StorageUnavailable):
    """The store cannot be used as it is named or set up, until a person mends that."""

    code = "STORAGE_UNUSABLE"


class StorageFull(StorageError):
    """The store has no room left."""

    code = "STORAGE_FULL"
    retryable = True


class StorageLocked(StorageError):
    """Another memory server has this store open."""

    code = "STORAGE_LOCKED"


class StorageCorrupt(StorageError):
    """The store's file is damaged."""

    code = "STORAGE_CORRUPT"


class SchemaTooNew(StorageError):
    """The store was written by a newer version of this program."""

    code = "SCHEMA_TOO_NEW"
