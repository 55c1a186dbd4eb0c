"""As whom a command speaks to a server, and the tokens that prove it.

For the local stack it is its own owner token. For any other server the first that is there of:
AGENTENGINE_OWNER_TOKEN; AGENTENGINE_CLIENT_ID with AGENTENGINE_CLIENT_SECRET; the login kept in
auth.json; the owner token of the local stack, if it is the server that is meant. If
AGENTENGINE_API_BASE_URL is set, what the environment holds goes to that server only.
"""

import asyncio
import contextlib
from abc import abstractmethod
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from agentengine_cli.base_url import normalized
from agentengine_cli.control.clock import Clock
from agentengine_cli.errors import CliError
from agentengine_cli.filelog import logger, variable
from agentengine_cli.home import UserDirectory
from agentengine_cli.logins import OWNER, Login, LoginFile
from memory_server.errors import NotAuthenticated

if TYPE_CHECKING:
    from memory_server.client import MemoryServerClient, PrincipalDocument, Session

UNKNOWN: "PrincipalDocument" = {"kind": "person", "id": "unknown"}
REFRESH_SECONDS = 30.0


class LoginEnded(CliError):
    """The login has ended, and could not be renewed."""


class NoClientSecret(CliError):
    """A service account is named, and there is no secret for it."""


class Kind(StrEnum):
    """What a credential is."""

    OWNER_TOKEN = "owner_token"  # noqa: S105 - a kind of credential, not one
    SERVICE_ACCOUNT = "service_account"
    LOGIN = "login"


class Credential(Protocol):
    """Says who speaks, and is the client's source of tokens."""

    @property
    @abstractmethod
    def kind(self) -> Kind:
        """What it is."""
        ...

    @property
    @abstractmethod
    def speaker(self) -> str:
        """Who speaks, in words; never a token."""
        ...

    @abstractmethod
    async def token(self) -> str:
        """Return a token that is thought to be valid."""
        ...

    @abstractmethod
    async def renewed(self, refused: str) -> str | None:
        """Return another token than the one that was refused, or None."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerToken(Credential):
    """The token of whoever runs the server."""

    value: str = field(repr=False)
    source: str
    """Where it was found."""

    @property
    def kind(self) -> Kind:
        return Kind.OWNER_TOKEN

    @property
    def speaker(self) -> str:
        return f"the owner ({self.source})"

    async def token(self) -> str:
        return self.value

    async def renewed(self, refused: str) -> str | None:
        del refused
        return None


@dataclass(slots=True, kw_only=True)
class AccountToken(Credential):
    """A service account, whose secret is exchanged for a token when one is needed."""

    base_url: str
    client_id: str
    client_secret: str = field(repr=False)
    _token: str | None = field(default=None, repr=False)

    @property
    def kind(self) -> Kind:
        return Kind.SERVICE_ACCOUNT

    @property
    def speaker(self) -> str:
        return f"the service account {self.client_id}"

    async def token(self) -> str:
        if self._token is None:
            async with _anonymous(self.base_url) as client:
                issued = await client.token(self.client_id, self.client_secret)
            self._token = issued["access_token"]
            logger.debug("fresh token for %s", self.client_id)
        return self._token

    async def renewed(self, refused: str) -> str | None:
        if refused == self._token:
            self._token = None
        return await self.token()


@dataclass(slots=True, kw_only=True)
class LoginToken(Credential):
    """A login of auth.json, renewed by itself; two commands at once share what one renewed."""

    login: Login
    directory: UserDirectory
    clock: Clock

    @property
    def kind(self) -> Kind:
        return Kind.OWNER_TOKEN if self.login.kind == OWNER else Kind.LOGIN

    @property
    def speaker(self) -> str:
        role = f", {self.login.role}" if self.login.role else ""
        where = f" of project {self.login.project_id}" if self.login.project_id else ""
        return f"{self.login.id}{role}{where}"

    async def token(self) -> str:
        if self.login.is_due(self.clock):
            await self._renew(self.login.access_token)
        return self.login.access_token

    async def renewed(self, refused: str) -> str | None:
        if self.login.refresh_token is None:
            return None
        await self._renew(refused)
        return self.login.access_token

    async def _renew(self, refused: str) -> None:
        """Replace the login, unless another command has done so meanwhile.

        A refresh token ends with its use, so that only one command may use it, and has to keep
        its successor before any other looks: all of it happens under the lock.
        """
        if self.login.refresh_token is None:
            raise _ended(self.login.base_url)
        async with self._editing():
            file = LoginFile(directory=self.directory)
            kept = file.find(self.login.base_url, self.login.project_id)
            if kept is None or kept.refresh_token is None:
                raise _ended(self.login.base_url)
            self.login = kept
            if kept.access_token != refused and not kept.is_due(self.clock):
                return
            self.login = replace(
                await self._refreshed(kept.refresh_token, kept), logged_in_at=kept.logged_in_at
            )
            file.keep(self.login)
            logger.debug("renewed the login of %s", self.login.id)

    async def _refreshed(self, refresh_token: str, kept: Login) -> Login:
        try:
            async with _anonymous(kept.base_url) as client:
                session = await client.platform.refresh(refresh_token)
        except NotAuthenticated as error:
            raise _ended(kept.base_url) from error
        return login_of(session, base_url=kept.base_url, clock=self.clock, former=kept)

    @contextlib.asynccontextmanager
    async def _editing(self) -> AsyncIterator[None]:
        """Hold the file's lock, waiting for it without holding up what else goes on."""
        with contextlib.ExitStack() as held:
            editing = self.directory.editing(self.directory.auth, self.clock)
            await asyncio.to_thread(held.enter_context, editing)
            yield


def login_of(
    session: "Session", *, base_url: str, clock: Clock, former: Login | None = None
) -> Login:
    """Return the login that a server's answer gives; what it does not tell stays as it was."""
    who = session.get("principal") or (_principal(former) if former else UNKNOWN)
    expires = clock.now() + timedelta(seconds=session["expires_in"])
    return Login(
        base_url=base_url,
        kind=who["kind"],
        id=who["id"],
        role=who.get("role"),
        project_id=who.get("project_id"),
        org_id=who.get("org_id"),
        access_token=session["access_token"],
        refresh_token=session.get("refresh_token"),
        expires_at=expires.isoformat(timespec="seconds"),
        logged_in_at=clock.now().isoformat(timespec="seconds"),
    )


def _principal(login: Login) -> "PrincipalDocument":
    return {
        "kind": login.kind,
        "id": login.id,
        "role": login.role,
        "project_id": login.project_id,
        "org_id": login.org_id,
    }


def find(
    environ: Mapping[str, str],
    *,
    base_url: str,
    project_id: str | None,
    directory: UserDirectory,
    clock: Clock,
) -> Credential | None:
    """Return the credential for a server: the environment's, else the kept login, else None.

    Raises `NoClientSecret` when the environment names a service account without its secret.
    """
    given = from_environment(environ, base_url)
    if given is not None:
        return given
    login = LoginFile(directory=directory).find(base_url, project_id)
    return LoginToken(login=login, directory=directory, clock=clock) if login else None


def from_environment(environ: Mapping[str, str], base_url: str) -> Credential | None:
    """Return the credential the environment holds for a server, if any."""
    if not environment_is_for(environ, base_url):
        return None
    if token := variable(environ, "OWNER_TOKEN"):
        return OwnerToken(value=token, source="AGENTENGINE_OWNER_TOKEN")
    client_id = variable(environ, "CLIENT_ID")
    if client_id is None:
        return None
    secret = variable(environ, "CLIENT_SECRET")
    if secret is None:
        raise NoClientSecret(
            f"There is no secret for the service account {client_id}",
            hint="Set AGENTENGINE_CLIENT_SECRET too, or unset AGENTENGINE_CLIENT_ID",
        )
    return AccountToken(base_url=base_url, client_id=client_id, client_secret=secret)


def environment_is_for(environ: Mapping[str, str], base_url: str) -> bool:
    """Tell whether the environment's credentials may be shown to a server."""
    meant = variable(environ, "API_BASE_URL")
    return not meant or normalized(meant, option="AGENTENGINE_API_BASE_URL") == base_url


def login_command(base_url: str) -> str:
    """Return the command that logs in."""
    return f"agentengine auth login --base-url {base_url} --username NAME"


def _ended(base_url: str) -> LoginEnded:
    return LoginEnded(f"Your login to {base_url} has ended", hint=login_command(base_url))


def _anonymous(base_url: str) -> "MemoryServerClient":
    from memory_server.client import MemoryServerClient  # noqa: PLC0415 - HTTP is slow to load

    return MemoryServerClient(base_url, timeout=REFRESH_SECONDS)
