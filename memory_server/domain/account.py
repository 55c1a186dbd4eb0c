"""Service accounts: the identities of programs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class AccountRole(StrEnum):
    """What a service account may do."""

    PROJECT_OWNER = "PROJECT_OWNER"
    PROJECT_READ_ONLY = "PROJECT_READ_ONLY"
    AGENT_DEVELOPER = "AGENT_DEVELOPER"


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretHash:
    """A client secret as it is kept: salted and hashed, never the secret."""

    salt: str
    digest: str
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAccount:
    """One service account of a project."""

    client_id: str
    project_id: str
    name: str
    role: AccountRole
    secrets: Sequence[SecretHash]
    """The current one first; the former one stays valid through its grace."""
    created_at: datetime
    updated_at: datetime
    description: str = ""
    ip_access_list: Sequence[str] = ()
    is_active: bool = True
    last_used_at: datetime | None = None


class PrincipalKind(StrEnum):
    """What kind of caller."""

    ANONYMOUS = "anonymous"
    """A local caller on the flat routes, with no token."""
    OWNER = "owner"
    """Whoever holds the deployment's owner token."""
    SERVICE_ACCOUNT = "service_account"


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who is calling."""

    kind: PrincipalKind
    id: str
    """The client id of a service account; otherwise the name of the kind."""
    project_id: str | None = None
    """The only project the caller may use; None: any this server holds."""
    role: AccountRole | None = None
