"""Errors the memory server raises, free of any transport.

* MemoryServerError
  + InvalidRequest
    - InvalidFilter
    - UndeclaredPath
      . PublishingPath
    - IdentityMissing
  + NotFound
    - MemoryNotFound
    - SnapshotNotFound
    - JobNotFound
    - AccountNotFound
    - MemberNotFound
    - OrganizationNotFound
    - UnknownCustomType
    - ProjectNotFound
  + Forbidden
    - NotAuthenticated
      . TokenExpired
    - IdentityRefused
  + Conflict
    - VersionConflict
    - DuplicateMemory
    - AlreadyPromoted
    - LeaseLost
    - DuplicateName
    - ProjectNotEmpty
    - ProjectInUse
  + LimitExceeded
    - TooLarge
    - RateLimited
    - Overloaded
    - BodyTooSlow
    - DeadlineExceeded
  + StorageError
    - StorageUnavailable
    - StorageFull
    - StorageLocked
    - StorageCorrupt
    - SchemaTooNew
  + ProviderError
    - ProviderUnavailable
    - ProviderRateLimited
    - KeyRejected
    - KeyMissing
    - ProviderMissing
    - Refused
    - InvalidAnswer
    - InputTooLong
    - WrongDimension
  + AllSourcesFailed
  + SourceNotIndexed
  + InvalidProjectConfig
"""

from typing import Any, ClassVar


class MemoryServerError(Exception):
    """Something went wrong in the memory server."""

    code: ClassVar[str] = "INTERNAL"
    retryable: ClassVar[bool] = False
    """Whether the same call may succeed later without anybody changing anything."""

    def __init__(self, message: str | None = None, **details: Any) -> None:
        super().__init__(message or type(self).__doc__)
        self.details = details


class InvalidRequest(MemoryServerError):
    """The request cannot be understood."""

    code = "INVALID_REQUEST"


class InvalidFilter(InvalidRequest):
    """The filter is not in the filter language."""

    code = "INVALID_FILTER"


class UndeclaredPath(InvalidRequest):
    """The filter names a path that is not declared for this source and mode."""

    code = "UNDECLARED_PATH"


class PublishingPath(UndeclaredPath):
    """The filter names what is published, which no filter reaches."""

    code = "PUBLISHING_PATH"


class IdentityMissing(InvalidRequest):
    """The request names neither a user nor a visibility."""

    code = "IDENTITY_MISSING"


class NotFound(MemoryServerError):
    """The thing asked for does not exist."""

    code = "NOT_FOUND"


class MemoryNotFound(NotFound):
    """No memory has that id."""

    code = "MEMORY_NOT_FOUND"


class SnapshotNotFound(NotFound):
    """No snapshot has that id."""

    code = "SNAPSHOT_NOT_FOUND"


class JobNotFound(NotFound):
    """No job has that id."""

    code = "JOB_NOT_FOUND"


class AccountNotFound(NotFound):
    """No service account has that client id."""

    code = "SERVICE_ACCOUNT_NOT_FOUND"


class MemberNotFound(NotFound):
    """The project has no member of that user id."""

    code = "MEMBER_NOT_FOUND"


class OrganizationNotFound(NotFound):
    """The server does not belong to that organization."""

    code = "ORGANIZATION_NOT_FOUND"


class UnknownCustomType(NotFound):
    """No custom memory type has that name."""

    code = "UNKNOWN_CUSTOM_TYPE"


class ProjectNotFound(NotFound):
    """The server does not hold that project."""

    code = "PROJECT_NOT_FOUND"


class Forbidden(MemoryServerError):
    """The caller may not do this."""

    code = "FORBIDDEN"


class NotAuthenticated(Forbidden):
    """A valid bearer token is needed."""

    code = "NOT_AUTHENTICATED"


class TokenExpired(NotAuthenticated):
    """The bearer token has expired."""

    code = "TOKEN_EXPIRED"


class IdentityRefused(Forbidden):
    """The caller may not act for that user."""

    code = "IDENTITY_REFUSED"


class Conflict(MemoryServerError):
    """The request collides with the current state."""

    code = "CONFLICT"


class VersionConflict(Conflict):
    """The memory was changed by someone else meanwhile."""

    code = "VERSION_CONFLICT"
    retryable = True


class DuplicateMemory(Conflict):
    """A live memory with the same identity exists already."""

    code = "DUPLICATE_MEMORY"
    retryable = True


class AlreadyPromoted(Conflict):
    """These turns were promoted by someone else meanwhile."""

    code = "ALREADY_PROMOTED"


class LeaseLost(Conflict):
    """The job's lease ended before the work did; someone else may hold it now."""

    code = "LEASE_LOST"


class DuplicateName(Conflict):
    """That name is taken."""

    code = "DUPLICATE_NAME"


class ProjectNotEmpty(Conflict):
    """The project still holds memory."""

    code = "PROJECT_NOT_EMPTY"


class ProjectInUse(Conflict):
    """The project is the one that the server was started for."""

    code = "PROJECT_HAS_ACTIVE_WORKSPACES"


class LimitExceeded(MemoryServerError):
    """A documented limit was passed."""

    code = "LIMIT_EXCEEDED"


class TooLarge(LimitExceeded):
    """The content is larger than the documented limit."""

    code = "TOO_LARGE"


class RateLimited(LimitExceeded):
    """Too many requests."""

    code = "RATE_LIMITED"
    retryable = True


class Overloaded(LimitExceeded):
    """The server works on as many requests as it takes at a time."""

    code = "OVERLOADED"
    retryable = True


class BodyTooSlow(LimitExceeded):
    """The request's body took too long to arrive."""

    code = "REQUEST_TIMEOUT"
    retryable = True


class DeadlineExceeded(LimitExceeded):
    """The request took too long and was given up."""

    code = "DEADLINE_EXCEEDED"
    retryable = True


class StorageError(MemoryServerError):
    """The store failed."""

    code = "STORAGE_ERROR"


class StorageUnavailable(StorageError):
    """The store does not answer."""

    code = "STORAGE_UNAVAILABLE"
    retryable = True


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


class ProviderError(MemoryServerError):
    """A model provider failed."""

    code = "PROVIDER_ERROR"


class ProviderUnavailable(ProviderError):
    """The model provider cannot be reached, or failed on its side."""

    code = "PROVIDER_UNAVAILABLE"
    retryable = True


class ProviderRateLimited(ProviderError):
    """The model provider asks for fewer requests."""

    code = "PROVIDER_RATE_LIMITED"
    retryable = True


class KeyRejected(ProviderError):
    """The model provider rejected the key."""

    code = "KEY_REJECTED"
    retryable = True


class KeyMissing(ProviderError):
    """The model provider needs a key, and none was found."""

    code = "KEY_MISSING"
    retryable = True


class ProviderMissing(ProviderError):
    """The model cannot be loaded because what it needs is not installed."""

    code = "PROVIDER_MISSING"


class Refused(ProviderError):
    """The model declined to answer."""

    code = "MODEL_REFUSED"


class InvalidAnswer(ProviderError):
    """The model's answer does not have the agreed form, even after one repair."""

    code = "INVALID_ANSWER"


class InputTooLong(ProviderError):
    """The model does not take a text of this length."""

    code = "INPUT_TOO_LONG"


class WrongDimension(ProviderError):
    """The model returned vectors of another dimension than the configured one."""

    code = "WRONG_DIMENSION"


class AllSourcesFailed(MemoryServerError):
    """Every requested source failed."""

    code = "ALL_SOURCES_FAILED"
    retryable = True


class SourceNotIndexed(MemoryServerError):
    """The source has no index for the mode asked for."""

    code = "SOURCE_NOT_INDEXED"


class InvalidProjectConfig(MemoryServerError):
    """The project configuration is not valid; `details["problems"]` lists every reason."""

    code = "INVALID_PROJECT_CONFIG"
