"""Who is calling, and the service accounts that programs call with."""

import hashlib
import hmac
import ipaddress
import logging
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Any

import jwt

from memory_server.domain.account import (
    AccountRole,
    Principal,
    PrincipalKind,
    SecretHash,
    ServiceAccount,
)
from memory_server.errors import (
    AccountNotFound,
    Forbidden,
    InvalidRequest,
    NotAuthenticated,
    TokenExpired,
    VersionConflict,
)
from memory_server.ports.accounts import Accounts
from memory_server.ports.clock import Clock

logger = logging.getLogger(__name__)

TOKEN_LIFETIME = timedelta(hours=1)
DEFAULT_SECRET_HOURS = 2160
ROTATION_GRACE = timedelta(days=7)
"""How long the former secret stays valid after a rotation, unless it expires before."""

ATTEMPTS = 8
"""How often a change is made anew when others change the same account meanwhile."""

_ALGORITHM = "HS256"
_ISSUER = "agentengine-memory"
_TICK = timedelta(microseconds=1)
_MAPPED_BITS = 96
"""How many bits of an IPv6 address come before the IPv4 address that is wrapped in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAccount:
    """A service account as it is asked for."""

    name: str
    role: AccountRole
    description: str = ""
    secret_hours: int = DEFAULT_SECRET_HOURS
    ip_access_list: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class IssuedSecret:
    """An account and its client secret, which is shown once and never kept."""

    account: ServiceAccount
    client_secret: str


class Identity:
    """Checks bearer tokens, and issues them to service accounts."""

    def __init__(self, *, accounts: Accounts, clock: Clock, owner_token: str) -> None:
        self._accounts = accounts
        self._clock = clock
        self._owner_token = owner_token
        # Derived, so that tokens survive a restart and end when the owner token is replaced.
        self._signing_key = hmac.digest(owner_token.encode(), b"service account tokens", "sha256")

    async def authenticate(
        self, bearer: str, *, project_id: str | None = None, address: str | None = None
    ) -> Principal:
        """Return whose token it is; raises `NotAuthenticated`, `TokenExpired` or `Forbidden`.

        With `project_id`, the token must be good for that project; `address` is the caller's,
        for accounts that may only call from listed ones.
        """
        if hmac.compare_digest(bearer.encode(), self._owner_token.encode()):
            return Principal(kind=PrincipalKind.OWNER, id="owner")
        account = await self._account_of(self._claims(bearer))
        if project_id is not None and account.project_id != project_id:
            raise Forbidden(
                f"the service account belongs to project {account.project_id!r} and may not use "
                f"{project_id!r}"
            )
        if account.ip_access_list and not _is_listed(address, account.ip_access_list):
            raise Forbidden("the caller's address is not on the service account's access list")
        return Principal(
            kind=PrincipalKind.SERVICE_ACCOUNT,
            id=account.client_id,
            project_id=account.project_id,
            role=account.role,
        )

    async def issue_token(self, client_id: str, client_secret: str) -> str:
        """Return a bearer token for client credentials, or raise `NotAuthenticated`."""
        account = await self._accounts.find(client_id)
        now = self._clock.now()
        if account is None or not account.is_active or not _opens(account, client_secret, now):
            raise NotAuthenticated("the client id or the client secret is not valid")
        await self._accounts.touch(account.client_id, now)
        claims = {
            "iss": _ISSUER,
            "sub": account.client_id,
            "prj": account.project_id,
            "iat": int(now.timestamp()),
            "exp": int((now + TOKEN_LIFETIME).timestamp()),
        }
        return jwt.encode(claims, self._signing_key, algorithm=_ALGORITHM)

    async def create_account(self, project_id: str, new: NewAccount) -> IssuedSecret:
        """Make a service account; raises `DuplicateName` or `InvalidRequest`."""
        _check(new)
        now = self._clock.now()
        client_secret, kept = _new_secret(now + timedelta(hours=new.secret_hours))
        account = ServiceAccount(
            client_id=f"ae_sa_id_{secrets.token_hex(12)}",
            project_id=project_id,
            name=new.name.strip(),
            role=new.role,
            description=new.description,
            ip_access_list=tuple(new.ip_access_list),
            secrets=(kept,),
            created_at=now,
            updated_at=now,
        )
        await self._accounts.add(account)
        return IssuedSecret(account, client_secret)

    async def list_accounts(self, project_id: str) -> Sequence[ServiceAccount]:
        """Return a project's accounts, the oldest first."""
        return await self._accounts.list(project_id)

    async def account(self, project_id: str, client_id: str) -> ServiceAccount:
        """Return one account of a project, or raise `AccountNotFound`."""
        account = await self._accounts.find(client_id)
        if account is None or account.project_id != project_id:
            raise AccountNotFound(f"project {project_id!r} has no service account {client_id!r}")
        return account

    async def rotate_secret(
        self, project_id: str, client_id: str, *, secret_hours: int = DEFAULT_SECRET_HOURS
    ) -> IssuedSecret:
        """Give an account a new secret; the former one keeps its grace, older ones end."""
        _check_hours(secret_hours)
        now = self._clock.now()
        client_secret, kept = _new_secret(now + timedelta(hours=secret_hours))

        def rotated(account: ServiceAccount) -> ServiceAccount:
            former = account.secrets[0]
            grace = replace(former, expires_at=min(former.expires_at, now + ROTATION_GRACE))
            return replace(account, secrets=(kept, grace))

        return IssuedSecret(await self._changed(project_id, client_id, rotated), client_secret)

    async def set_ip_access_list(
        self, project_id: str, client_id: str, addresses: Sequence[str]
    ) -> ServiceAccount:
        """Replace the list of addresses an account may call from; an empty one allows all."""
        _check_addresses(addresses)
        return await self._changed(
            project_id,
            client_id,
            lambda account: replace(account, ip_access_list=tuple(addresses)),
        )

    async def delete_account(self, project_id: str, client_id: str) -> None:
        """Remove an account; its tokens are refused from the next request on."""
        await self.account(project_id, client_id)
        await self._accounts.delete(client_id)

    async def _changed(
        self, project_id: str, client_id: str, change: Callable[[ServiceAccount], ServiceAccount]
    ) -> ServiceAccount:
        """Change an account as it is stored now; what others change meanwhile is not undone."""
        for _ in range(ATTEMPTS):
            stored = await self.account(project_id, client_id)
            # Never the same twice, even when two changes fall on one tick of the clock.
            later = max(self._clock.now(), stored.updated_at + _TICK)
            account = replace(change(stored), updated_at=later)
            with suppress(VersionConflict):
                await self._accounts.put(account, expected_updated_at=stored.updated_at)
                return account
        raise VersionConflict(
            f"service account {client_id!r} is being changed by others; try again"
        )

    def _claims(self, bearer: str) -> dict[str, Any]:
        """Return what a token says, if it was signed here and is not over."""
        try:
            claims = jwt.decode(
                bearer,
                self._signing_key,
                algorithms=[_ALGORITHM],
                issuer=_ISSUER,
                # Expiry is checked against the clock port below.
                options={"require": ["exp", "sub"], "verify_exp": False, "verify_iat": False},
            )
        except jwt.InvalidTokenError:
            raise NotAuthenticated("the bearer token is not valid") from None
        if self._clock.now() >= datetime.fromtimestamp(claims["exp"], UTC):
            raise TokenExpired("the bearer token has expired; ask for a new one")
        return claims

    async def _account_of(self, claims: dict[str, Any]) -> ServiceAccount:
        account = await self._accounts.find(claims["sub"])
        if account is None or not account.is_active:
            raise NotAuthenticated("the service account of this token exists no longer")
        return account


def _new_secret(expires_at: datetime) -> tuple[str, SecretHash]:
    client_secret = f"ae_sa_sk_{secrets.token_urlsafe(32)}"
    salt = secrets.token_hex(16)
    kept = SecretHash(salt=salt, digest=_digest(salt, client_secret), expires_at=expires_at)
    return client_secret, kept


def _digest(salt: str, client_secret: str) -> str:
    """Hash a secret of 256 random bits; a slow hash would add nothing to that."""
    return hashlib.sha256(f"{salt}{client_secret}".encode()).hexdigest()


def _opens(account: ServiceAccount, client_secret: str, now: datetime) -> bool:
    return any(
        hmac.compare_digest(kept.digest, _digest(kept.salt, client_secret))
        for kept in account.secrets
        if now < kept.expires_at
    )


def _check(new: NewAccount) -> None:
    if not new.name.strip():
        raise InvalidRequest("name: a service account needs a name that is not blank")
    _check_hours(new.secret_hours)
    _check_addresses(new.ip_access_list)


def _check_hours(hours: int) -> None:
    if hours < 1:
        raise InvalidRequest("secret_expires_after_hours: at least 1 whole hour")


def _check_addresses(addresses: Sequence[str]) -> None:
    for address in addresses:
        try:
            _network(address)
        except ValueError:
            raise InvalidRequest(
                f"ip_access_list: {address!r} is neither an IP address nor a CIDR range"
            ) from None


def caller_address(text: str | None) -> IPv4Address | IPv6Address | None:
    """Return a caller's address, None for what is none.

    A socket for both families gives IPv4 callers as `::ffff:10.1.2.3`; they are unwrapped.
    """
    try:
        address = ipaddress.ip_address(text or "")
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _is_listed(text: str | None, allowed: Sequence[str]) -> bool:
    caller = caller_address(text)
    return caller is not None and any(caller in _network(entry) for entry in allowed)


def _network(entry: str) -> IPv4Network | IPv6Network:
    """Return the addresses that an entry of an access list means, unwrapped as callers are."""
    network = ipaddress.ip_network(entry, strict=False)
    mapped = getattr(network.network_address, "ipv4_mapped", None)
    if mapped is None or network.prefixlen < _MAPPED_BITS:
        return network
    return ipaddress.ip_network(f"{mapped}/{network.prefixlen - _MAPPED_BITS}", strict=False)
