"""People: the members of projects, and their logins."""

from dataclasses import dataclass, field
from datetime import datetime

from memory_server.domain.account import AccountRole, SecretHash


@dataclass(frozen=True, slots=True, kw_only=True)
class PasswordHash:
    """A password as it is kept: salted and hashed, never the password."""

    salt: str = field(repr=False)
    digest: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A person in a project. The same person in another project is another member."""

    project_id: str
    user_id: str
    """The user name, and whose memory it is when identity is enforced."""
    role: AccountRole
    password: PasswordHash
    created_at: datetime
    updated_at: datetime
    is_active: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """A member who has logged in: what all tokens issued from one password have in common.

    When it is gone, none of them opens anything.
    """

    id: str
    project_id: str
    user_id: str
    refresh: SecretHash
    """Of the one refresh token that is good; each use replaces it."""
    created_at: datetime
