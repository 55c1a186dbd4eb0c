"""What goes wrong with an evaluation itself, beside what its server answers."""

from memory_server.errors import InvalidRequest, MemoryServerError


class InvalidSuite(InvalidRequest):
    """The suite cannot be run as it is written; `details["problems"]` has every reason."""

    code = "INVALID_SUITE"


class RecordsDamaged(InvalidRequest):
    """A stage's file holds a line that is none of its records."""

    code = "RECORDS_DAMAGED"


class StoredDifferently(MemoryServerError):
    """The server holds something else of a conversation than what was sent."""

    code = "STORED_DIFFERENTLY"


class WorkFailed(MemoryServerError):
    """Background work of a conversation failed, so that its memory is not whole."""

    code = "WORK_FAILED"


class NotThere(InvalidRequest):
    """What a stage reads was not written by the stage before it."""

    code = "NOT_THERE"


class InvalidCases(InvalidRequest):
    """Labelled conversations cannot be read; `details["problems"]` has every reason."""

    code = "INVALID_CASES"
