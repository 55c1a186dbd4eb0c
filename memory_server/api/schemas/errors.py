"""Errors on the wire."""

from memory_server.api.schemas.common import Answer


class Problem(Answer):
    """One value that does not fit, and where it stands."""

    loc: list[str | int]
    msg: str


class ErrorDocument(Answer):
    """The envelope of every error."""

    code: str
    error: str
    detail: str
    """The same text, for clients that look here."""
    request_id: str
    """Also in the header `X-Request-ID`, and in the server's log."""
    errors: list[Problem] | None = None
    """Only for invalid input."""
