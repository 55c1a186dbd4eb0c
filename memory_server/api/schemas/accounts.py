"""Service accounts and tokens on the wire."""

from pydantic import Field

from memory_server.api.schemas.common import Answer, Body, Flag, Whole
from memory_server.domain.account import AccountRole, ServiceAccount
from memory_server.domain.limits import MAX_ADDRESSES, MAX_DESCRIPTION, MAX_NAME
from memory_server.services.service_accounts import (
    DEFAULT_SECRET_HOURS,
    IssuedSecret,
    NewAccount,
)

MAX_SECRET_HOURS = 10 * 365 * 24


class AccountBody(Body):
    """A service account to be made."""

    name: str = Field(max_length=MAX_NAME)
    description: str = Field(default="", max_length=MAX_DESCRIPTION)
    roles: tuple[AccountRole, ...] = Field(min_length=1, max_length=1)
    """Exactly one."""
    secret_expires_after_hours: Whole = Field(
        default=DEFAULT_SECRET_HOURS, ge=1, le=MAX_SECRET_HOURS
    )
    ip_access_list: tuple[str, ...] = Field(default=(), max_length=MAX_ADDRESSES)

    def account(self) -> NewAccount:
        """Return the account as it is asked for."""
        return NewAccount(
            name=self.name,
            role=self.roles[0],
            description=self.description,
            secret_hours=self.secret_expires_after_hours,
            ip_access_list=self.ip_access_list,
        )


class RotateBody(Body):
    """How long the new secret is valid."""

    secret_expires_after_hours: Whole = Field(
        default=DEFAULT_SECRET_HOURS, ge=1, le=MAX_SECRET_HOURS
    )


class AccountPatch(Body):
    """What is to be different; null leaves it alone."""

    is_active: Flag | None = None
    """False: the account is refused from the next request on."""
    description: str | None = Field(default=None, max_length=MAX_DESCRIPTION)


class AddressesBody(Body):
    """Addresses an account may call from; an empty list allows all."""

    ip_access_list: tuple[str, ...] = Field(max_length=MAX_ADDRESSES)


class AccountDocument(Answer):
    """A service account; never its secret."""

    client_id: str
    name: str
    description: str
    roles: list[AccountRole]
    project_id: str | None
    """None: an account of the organization."""
    is_active: bool
    ip_access_list: list[str]
    created_at: str
    updated_at: str
    secret_expires_at: str | None
    last_used_at: str | None

    @classmethod
    def of(cls, account: ServiceAccount) -> "AccountDocument":
        """Return an account as it travels."""
        used = account.last_used_at
        current = account.secrets[0].expires_at if account.secrets else None
        return cls(
            client_id=account.client_id,
            name=account.name,
            description=account.description,
            roles=[account.role],
            project_id=account.project_id,
            is_active=account.is_active,
            ip_access_list=list(account.ip_access_list),
            created_at=account.created_at.isoformat(),
            updated_at=account.updated_at.isoformat(),
            secret_expires_at=current.isoformat() if current else None,
            last_used_at=used.isoformat() if used else None,
        )


class Accounts(Answer):
    """The accounts of a project or of the organization, the oldest first."""

    service_accounts: list[AccountDocument]
    total: int


class OneAccount(Answer):
    """One account."""

    service_account: AccountDocument


class Issued(OneAccount):
    """An account and its new secret, which is told only now."""

    client_secret: str = Field(repr=False)

    @classmethod
    def of(cls, issued: IssuedSecret) -> "Issued":
        """Return an issued secret as it travels."""
        return cls(
            client_secret=issued.client_secret,
            service_account=AccountDocument.of(issued.account),
        )


class Token(Answer):
    """A bearer token."""

    access_token: str = Field(repr=False)
    token_type: str = "Bearer"  # noqa: S105 the scheme's name
    expires_in: int
    """Seconds."""
