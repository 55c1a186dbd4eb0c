"""Errors of who calls, and of what callers belong to."""

from memory_server.errors.root import Conflict, Forbidden, NotFound


class NotAuthenticated(Forbidden):
    """A valid bearer token is needed."""

    code = "NOT_AUTHENTICATED"


class TokenExpired(NotAuthenticated):
    """The bearer token has expired."""

    code = "TOKEN_EXPIRED"


class IdentityRefused(Forbidden):
    """The caller may not act for that user."""

    code = "IDENTITY_REFUSED"


class AccountNotFound(NotFound):
    """No service account has that client id."""

    code = "SERVICE_ACCOUNT_NOT_FOUND"


class MemberNotFound(NotFound):
    """The project has no member of that user id."""

    code = "MEMBER_NOT_FOUND"


class OrganizationNotFound(NotFound):
    """The server does not belong to that organization."""

    code = "ORGANIZATION_NOT_FOUND"


class ProjectNotFound(NotFound):
    """The server does not hold that project."""

    code = "PROJECT_NOT_FOUND"


class DuplicateName(Conflict):
    """That name is taken."""

    code = "DUPLICATE_NAME"


class ProjectNotEmpty(Conflict):
    """The project still holds memory."""

    code = "PROJECT_NOT_EMPTY"


class ProjectInUse(Conflict):
    """The project is the one that the server was started for."""

    code = "PROJECT_HAS_ACTIVE_WORKSPACES"
