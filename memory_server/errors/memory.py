"""Errors of what is remembered, and of asking for it."""

from memory_server.errors.root import Conflict, InvalidRequest, MemoryServerError, NotFound


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


class MemoryNotFound(NotFound):
    """No memory has that id."""

    code = "MEMORY_NOT_FOUND"


class SnapshotNotFound(NotFound):
    """No snapshot has that id."""

    code = "SNAPSHOT_NOT_FOUND"


class JobNotFound(NotFound):
    """No job has that id."""

    code = "JOB_NOT_FOUND"


class ProposalNotFound(NotFound):
    """No proposal has that id."""

    code = "PROPOSAL_NOT_FOUND"


class UnknownCustomType(NotFound):
    """No custom memory type has that name."""

    code = "UNKNOWN_CUSTOM_TYPE"


class VersionConflict(Conflict):
    """The memory was changed by someone else meanwhile."""

    code = "VERSION_CONFLICT"
    retryable = True


class DuplicateMemory(Conflict):
    """A live memory with the same identity exists already."""

    code = "DUPLICATE_MEMORY"
    retryable = True


class ProposalDecided(Conflict):
    """The proposal was decided otherwise already."""

    code = "PROPOSAL_DECIDED"


class ProposalChanged(Conflict):
    """The proposal was changed or decided by someone else meanwhile."""

    code = "PROPOSAL_CHANGED"


class AlreadyPromoted(Conflict):
    """These turns were promoted by someone else meanwhile."""

    code = "ALREADY_PROMOTED"


class LeaseLost(Conflict):
    """The job's lease ended before the work did; someone else may hold it now."""

    code = "LEASE_LOST"


class AllSourcesFailed(MemoryServerError):
    """Every requested source failed."""

    code = "ALL_SOURCES_FAILED"
    retryable = True


class SourceNotIndexed(MemoryServerError):
    """The source has no index for the mode asked for."""

    code = "SOURCE_NOT_INDEXED"
