"""Who may call: roles, service accounts, and the caller of one request."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class AccountRole(StrEnum):
    """What a service account or a member of a project may do. Older spellings are understood."""

    PROJECT_OWNER = "PROJECT_OWNER"
    PROJECT_READ_ONLY = "PROJECT_READ_ONLY"
    AGENT_DEVELOPER = "AGENT_DEVELOPER"
    ORG_GROUP_CREATOR = "ORG_GROUP_CREATOR"
    """May create and list projects, and opens none of them."""
    ORG_READ_ONLY = "ORG_READ_ONLY"
    """May list projects, and opens none of them."""

    @classmethod
    def _missing_(cls, value: object) -> "AccountRole | None":
        return _FORMER.get(value) if isinstance(value, str) else None

    @property
    def is_of_organization(self) -> bool:
        """Whether it is a role in the organization, not in a project."""
        return self in (AccountRole.ORG_GROUP_CREATOR, AccountRole.ORG_READ_ONLY)


_FORMER = {
    "PROJECT_MEMBER": AccountRole.PROJECT_READ_ONLY,
    "ORG_ADMIN": AccountRole.ORG_GROUP_CREATOR,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretHash:
    """A client secret as it is kept: salted and hashed, never the secret."""

    salt: str = field(repr=False)
    digest: str = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAccount:
    """One service account, of a project or of the organization."""

    client_id: str
    project_id: str | None
    """None: an account of the organization."""
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
    PERSON = "person"
    """A member of a project who has logged in."""
    SERVICE_ACCOUNT = "service_account"
    EXECUTION = "execution"
    """The process of an agent while it works on an execution."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who is calling."""

    kind: PrincipalKind
    id: str
    """A client id, the user id of a person or of an execution; otherwise the name of the kind."""
    project_id: str | None = None
    """The only project the caller may use; None: the owner's any, the organization's none."""
    role: AccountRole | None = None
    """None: the caller is none of a project's and none of the organization's."""
    on_behalf_of: "Principal | None" = None
    """Of an agent's process: who invoked the agent, as they stand now. It may no more than they."""

    @property
    def signature(self) -> str:
        """Who it is, as what they decide is signed: the kind, and the id where there is one."""
        kind = self.kind.value
        return kind if self.id == kind else f"{kind} {self.id}"
