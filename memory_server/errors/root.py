"""What every error of the memory server is one of."""

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


class NotFound(MemoryServerError):
    """The thing asked for does not exist."""

    code = "NOT_FOUND"


class Forbidden(MemoryServerError):
    """The caller may not do this."""

    code = "FORBIDDEN"


class Conflict(MemoryServerError):
    """The request collides with the current state."""

    code = "CONFLICT"


class LimitExceeded(MemoryServerError):
    """A documented limit was passed."""

    code = "LIMIT_EXCEEDED"
