"""Logging in, on the wire."""

from pydantic import Field

from memory_server.api.schemas.common import Answer, Body, Id
from memory_server.domain.account import AccountRole, Principal, PrincipalKind
from memory_server.domain.limits import MAX_CREDENTIAL
from memory_server.domain.member import Member
from memory_server.services.members import LoggedIn
from memory_server.services.tokens import TOKEN_LIFETIME


class LoginBody(Body):
    """Who logs in."""

    username: Id
    """The user id of a member."""
    password: str = Field(max_length=MAX_CREDENTIAL, repr=False)
    project_id: Id | None = None
    """Without one, the project that the password is for."""


class RefreshBody(Body):
    """A refresh token; it is good once."""

    refresh_token: str = Field(max_length=MAX_CREDENTIAL, repr=False)


class PrincipalDocument(Answer):
    """Who is calling."""

    kind: PrincipalKind
    id: str
    role: AccountRole | None
    project_id: str | None
    org_id: str

    @classmethod
    def of(cls, principal: Principal, org_id: str) -> "PrincipalDocument":
        """Return a caller as they travel."""
        return cls(
            kind=principal.kind,
            id=principal.id,
            role=principal.role,
            project_id=principal.project_id,
            org_id=org_id,
        )

    @classmethod
    def of_member(cls, member: Member, org_id: str) -> "PrincipalDocument":
        """Return a member as a caller."""
        return cls(
            kind=PrincipalKind.PERSON,
            id=member.user_id,
            role=member.role,
            project_id=member.project_id,
            org_id=org_id,
        )


class LoginAnswer(Answer):
    """The tokens of a login."""

    access_token: str = Field(repr=False)
    refresh_token: str = Field(repr=False)
    """Good once, for 30 days; using it twice ends the login."""
    token_type: str = "Bearer"  # noqa: S105 the scheme's name
    expires_in: int
    """Seconds that the access token is good for."""
    principal: PrincipalDocument

    @classmethod
    def of(cls, logged_in: LoggedIn, org_id: str) -> "LoginAnswer":
        """Return the tokens as they travel."""
        return cls(
            access_token=logged_in.access_token,
            refresh_token=logged_in.refresh_token,
            expires_in=int(TOKEN_LIFETIME.total_seconds()),
            principal=PrincipalDocument.of_member(logged_in.member, org_id),
        )
