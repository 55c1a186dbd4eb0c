"""Service accounts: the identities of programs, and the tokens they get for their secrets."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from memory_server.domain.account import AccountRole, PrincipalKind, SecretHash, ServiceAccount
from memory_server.errors import AccountNotFound, InvalidRequest, NotAuthenticated, VersionConflict
from memory_server.ports.accounts import Accounts
from memory_server.ports.attempts import Attempts
from memory_server.ports.clock import Clock
from memory_server.services.addresses import network_of, source_of
from memory_server.services.attempts import AttemptLimit
from memory_server.services.credentials import new_id, new_secret, opens, salted
from memory_server.services.tokens import Claims, Tokens

DEFAULT_SECRET_HOURS = 2160
ROTATION_GRACE = timedelta(days=7)
"""How long the former secret stays valid after a rotation, unless it expires before."""

ATTEMPTS = 8
"""How often a change is made anew when others change the same account meanwhile."""

MOST_OF_ACCOUNT = 60
MOST_OF_ADDRESS = 300
WINDOW = timedelta(minutes=1)
"""How many tokens one account, and one address, may ask for in that time."""

_TICK = timedelta(microseconds=1)
_NOBODYS = salted(new_secret(""))
"""What a secret is compared with when there is no account, so that it takes as long."""


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
    client_secret: str = field(repr=False)


class ServiceAccounts:
    """Manages accounts, of projects and (where the project is None) of the organization."""

    def __init__(
        self, *, accounts: Accounts, attempts: Attempts, clock: Clock, tokens: Tokens
    ) -> None:
        self._accounts = accounts
        self._clock = clock
        self._tokens = tokens
        self._of_account = AttemptLimit(
            attempts=attempts,
            clock=clock,
            what="tokens for one client id",
            most=MOST_OF_ACCOUNT,
            window=WINDOW,
        )
        self._of_address = AttemptLimit(
            attempts=attempts,
            clock=clock,
            what="attempts to get a token from one address",
            most=MOST_OF_ADDRESS,
            window=WINDOW,
        )

    async def issue_token(
        self, client_id: str, client_secret: str, *, address: str | None = None
    ) -> str:
        """Return a bearer token for client credentials.

        Raises `NotAuthenticated`, for unknown ids as for wrong secrets, and `RateLimited`. Only
        who knows the secret counts against the account: a client id is no secret, and nobody
        else is to use up what its account may ask for.
        """
        await self._of_address.count(source_of(address))
        account = await self._accounts.find(client_id)
        now = self._clock.now()
        if not _opens(account, client_secret, now) or account is None or not account.is_active:
            raise NotAuthenticated("the client id or the client secret is not valid")
        await self._of_account.count(account.client_id)
        await self._accounts.touch(account.client_id, now)
        return self._tokens.issue(
            Claims(
                kind=PrincipalKind.SERVICE_ACCOUNT,
                subject=account.client_id,
                project_id=account.project_id,
            )
        )

    async def create(self, project_id: str | None, new: NewAccount) -> IssuedSecret:
        """Make a service account; raises `DuplicateName` or `InvalidRequest`."""
        _check(project_id, new)
        now = self._clock.now()
        client_secret, kept = _new_secret(now + timedelta(hours=new.secret_hours))
        account = ServiceAccount(
            client_id=new_id("ae_sa_id_"),
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

    async def list(self, project_id: str | None) -> Sequence[ServiceAccount]:
        """Return the accounts, the oldest first."""
        return await self._accounts.list(project_id)

    async def get(self, project_id: str | None, client_id: str) -> ServiceAccount:
        """Return one account, or raise `AccountNotFound`."""
        account = await self._accounts.find(client_id)
        if account is None or account.project_id != project_id:
            where = "the organization" if project_id is None else f"project {project_id!r}"
            raise AccountNotFound(f"{where} has no service account {client_id!r}")
        return account

    async def rotate_secret(
        self, project_id: str | None, client_id: str, *, secret_hours: int = DEFAULT_SECRET_HOURS
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
        self, project_id: str | None, client_id: str, addresses: Sequence[str]
    ) -> ServiceAccount:
        """Replace the list of addresses an account may call from; an empty one allows all."""
        _check_addresses(addresses)
        return await self._changed(
            project_id,
            client_id,
            lambda account: replace(account, ip_access_list=tuple(addresses)),
        )

    async def change(
        self,
        project_id: str | None,
        client_id: str,
        *,
        is_active: bool | None = None,
        description: str | None = None,
    ) -> ServiceAccount:
        """Change what is not None; one that is not active is refused from the next request on."""

        def changed(account: ServiceAccount) -> ServiceAccount:
            return replace(
                account,
                is_active=account.is_active if is_active is None else is_active,
                description=account.description if description is None else description,
            )

        return await self._changed(project_id, client_id, changed)

    async def delete(self, project_id: str | None, client_id: str) -> None:
        """Remove an account; its tokens are refused from the next request on."""
        await self.get(project_id, client_id)
        await self._accounts.delete(client_id)

    async def _changed(
        self,
        project_id: str | None,
        client_id: str,
        change: Callable[[ServiceAccount], ServiceAccount],
    ) -> ServiceAccount:
        """Change an account as it is stored now; what others change meanwhile is not undone."""
        for _ in range(ATTEMPTS):
            stored = await self.get(project_id, client_id)
            # Never the same twice, even when two changes fall on one tick of the clock.
            later = max(self._clock.now(), stored.updated_at + _TICK)
            account = replace(change(stored), updated_at=later)
            with suppress(VersionConflict):
                await self._accounts.put(account, expected_updated_at=stored.updated_at)
                return account
        raise VersionConflict(
            f"service account {client_id!r} is being changed by others; try again"
        )


def _new_secret(expires_at: datetime) -> tuple[str, SecretHash]:
    client_secret = new_secret("ae_sa_sk_")
    salt, digest = salted(client_secret)
    return client_secret, SecretHash(salt=salt, digest=digest, expires_at=expires_at)


def _opens(account: ServiceAccount | None, client_secret: str, now: datetime) -> bool:
    """Whether a secret is one of the account's that are valid; compared with each, always two."""
    kept = [] if account is None else [s for s in account.secrets if now < s.expires_at]
    matches = [opens(secret.salt, secret.digest, client_secret) for secret in kept]
    for _ in range(2 - len(matches)):
        opens(*_NOBODYS, client_secret)
    return any(matches)


def _check(project_id: str | None, new: NewAccount) -> None:
    if not new.name.strip():
        raise InvalidRequest("name: a service account needs a name that is not blank")
    if new.role.is_of_organization is not (project_id is None):
        fitting = [r for r in AccountRole if r.is_of_organization is (project_id is None)]
        owner = "the organization" if project_id is None else "a project"
        raise InvalidRequest(
            f"roles: a service account of {owner} has one of {', '.join(fitting)}; "
            f"{new.role.value} is none of them"
        )
    _check_hours(new.secret_hours)
    _check_addresses(new.ip_access_list)


def _check_hours(hours: int) -> None:
    if hours < 1:
        raise InvalidRequest("secret_expires_after_hours: at least 1 whole hour")


def _check_addresses(addresses: Sequence[str]) -> None:
    for address in addresses:
        try:
            network_of(address)
        except ValueError:
            raise InvalidRequest(
                f"ip_access_list: {address!r} is neither an IP address nor a CIDR range"
            ) from None
