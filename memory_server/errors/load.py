"""Errors of asking for too much, too often or for too long."""

from memory_server.errors.root import LimitExceeded


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
