"""Logging in: what is presented becomes the login that is kept."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentengine_cli.connection import Server
from agentengine_cli.context import CliContext, run
from agentengine_cli.control.clock import Clock, SystemClock
from agentengine_cli.credentials import LoginToken, OwnerToken, login_of
from agentengine_cli.errors import CliError
from agentengine_cli.home import user_directory
from agentengine_cli.logins import OWNER, Login, LoginFile
from agentengine_cli.remote_errors import explain_at
from agentengine_cli.target import LOCAL
from memory_server.errors import MemoryServerError, NotAuthenticated

if TYPE_CHECKING:
    from memory_server.client import MemoryServerClient, PrincipalDocument, Session

END_SECONDS = 5.0
OWNER_KINDS = frozenset({OWNER, "owner_token"})


class LoginRefused(CliError):
    """The server did not take what was presented."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """One server somebody wants to log in to."""

    context: CliContext
    server: Server
    timeout: float
    """Seconds."""
    clock: Clock

    @classmethod
    def of(cls, context: CliContext, server: Server, *, timeout: float) -> "Door":
        """Return the door of a server, by the machine's clock."""
        return cls(context=context, server=server, timeout=timeout, clock=SystemClock())

    def by_password(self, *, username: str, password: str, project_id: str | None) -> Login:
        """Log a person in."""

        async def exchange(client: "MemoryServerClient") -> "Session":
            return await client.platform.login(
                username=username, password=password, project_id=project_id
            )

        return self._keep(self._session(exchange, what="that name with that password"))

    def by_refresh_token(self, refresh_token: str) -> Login:
        """Log in with a refresh token, which ends with this."""

        async def exchange(client: "MemoryServerClient") -> "Session":
            return await client.platform.refresh(refresh_token)

        return self._keep(self._session(exchange, what="that refresh token"))

    def by_owner_token(self, token: str) -> Login:
        """Keep the server's owner token, if it is that."""

        async def ask() -> "PrincipalDocument":
            credential = OwnerToken(value=token, source="as given")
            async with self.server.client(credential, timeout=self.timeout) as client:
                return await client.platform.me()

        try:
            who = run(ask())
        except NotAuthenticated as error:
            raise _refused(self.server.url, "that owner token", error) from error
        if who["kind"] not in OWNER_KINDS:
            raise LoginRefused(
                f"That is no owner token of {self.server.url}: it is the token of a {who['kind']}"
            )
        login = Login(
            base_url=self.server.url,
            kind=OWNER,
            id=OWNER,
            org_id=who.get("org_id"),
            access_token=token,
            logged_in_at=self.clock.now().isoformat(timespec="seconds"),
        )
        return self._keep(login)

    def _session(
        self, exchange: Callable[["MemoryServerClient"], Awaitable["Session"]], *, what: str
    ) -> Login:
        async def work() -> "Session":
            async with self.server.client(None, timeout=self.timeout) as client:
                return await exchange(client)

        try:
            session = run(work())
        except NotAuthenticated as error:
            raise _refused(self.server.url, what, error) from error
        return login_of(session, base_url=self.server.url, clock=self.clock)

    def _keep(self, login: Login) -> Login:
        directory = user_directory(self.context.environ)
        with directory.editing(directory.auth, self.clock):
            LoginFile(directory=directory).keep(login)
        return login


def end(context: CliContext, login: Login) -> None:
    """Have the server end a login; what hinders it is a warning, because it is forgotten anyway."""
    if login.kind in OWNER_KINDS:
        return
    clock = SystemClock()
    credential = LoginToken(login=login, directory=user_directory(context.environ), clock=clock)
    server = Server(url=login.base_url, project_id=LOCAL, credential=credential)

    async def work() -> None:
        async with server.client(credential, timeout=END_SECONDS) as client:
            await client.platform.logout()

    try:
        run(work())
    except (CliError, MemoryServerError, OSError) as error:
        told = explain_at(error, server)
        context.output.warning(
            f"{login.base_url} could not be told, and takes the tokens until they end: {told}"
        )


def _refused(base_url: str, what: str, error: NotAuthenticated) -> LoginRefused:
    return LoginRefused(f"{base_url} does not take {what}: {error}")
