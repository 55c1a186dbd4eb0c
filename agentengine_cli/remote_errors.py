"""What went wrong between here and a server that runs elsewhere, and what mends it."""

import socket
import ssl
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import urlsplit

from agentengine_cli.connection import Server
from agentengine_cli.credentials import Kind, login_command
from agentengine_cli.errors import CliError, ServerNotRunning, explain
from memory_server import errors as server_errors

ROUTE_MISSING = frozenset({"ROUTE_NOT_FOUND", "METHOD_NOT_ALLOWED"})

GATEWAY = frozenset({502, 503, 504})
"""What a proxy answers when the server behind it does not."""


class ServerTooOld(CliError):
    """The server does not know what it was asked for."""


class NotMemoryServer(CliError):
    """Something else answers at that address."""


class HostUnknown(CliError):
    """The name of the server's host is not known."""


class TlsFailed(CliError):
    """No encrypted connection could be made."""


def explain_at(error: Exception, server: Server | None) -> CliError | None:
    """Return the error to show for an expected failure, or None for a defect.

    What depends on who spoke to which server is explained by `server`; None, or the local stack:
    as `errors.explain` does.
    """
    if server is None or server.is_local or isinstance(error, CliError):
        return explain(error)
    tell = next((tell for kind, tell in _TABLE if isinstance(error, kind)), _as_it_is)
    return tell(error, server) or explain(error)


def _unreachable(error: Exception, server: Server) -> CliError:
    causes = list(_causes(error))
    for kind, tell in _CAUSES:
        found = next((cause for cause in causes if isinstance(cause, kind)), None)
        if found is not None:
            return tell(found, server)
    return ServerNotRunning(
        f"Nothing answers at {server.url}",
        hint=f"Is the address right, and the server up? curl {server.url}/health",
    )


def _refused(error: BaseException, server: Server) -> CliError:
    del error
    return ServerNotRunning(
        f"Nothing listens at {server.url}: the connection was refused",
        hint="Is the port right, and the server up? In its project's directory: "
        "agentengine memory apply --wait",
    )


def _unknown_host(error: BaseException, server: Server) -> CliError:
    del error
    return HostUnknown(
        f"The host of {server.url} is not known",
        hint="Is the name spelled right? A context keeps the one it was made with: "
        "agentengine context list",
    )


def _no_tls(error: BaseException, server: Server) -> CliError:
    if isinstance(error, ssl.SSLCertVerificationError):
        return TlsFailed(
            f"The certificate of {server.url} is not trusted: {_reason(error)}",
            hint="Have its issuer trusted on this machine: SSL_CERT_FILE names a file of issuers",
        )
    plain = "http" + server.url.removeprefix("https")
    return TlsFailed(
        f"No encrypted connection to {server.url}: {_reason(error)}",
        hint=f"If it speaks plain HTTP, its address is {plain}",
    )


_CAUSES: Sequence[tuple[type[BaseException], Callable[[BaseException, Server], CliError]]] = (
    (ssl.SSLError, _no_tls),
    (socket.gaierror, _unknown_host),
    (ConnectionRefusedError, _refused),
)


def _reason(error: BaseException) -> str:
    """Return why no encrypted connection came about, in the words of the library."""
    told = (getattr(error, name, None) for name in ("verify_message", "reason"))
    return next((str(reason) for reason in told if reason), str(error))


def _as_it_is(error: Exception, server: Server) -> None:
    """Leave the error to its own words."""


def _timed_out(error: Exception, server: Server) -> CliError | None:
    del error
    return CliError(
        f"{server.url} took too long to answer",
        hint="Raise --timeout where the command has it, or see: agentengine memory status",
        code="TIMEOUT",
    )


def _unauthorized(error: Exception, server: Server) -> CliError:
    """Say whose credential was refused; what a server says of it is part of it."""
    credential = server.credential
    if credential is None:
        return CliError(str(error), hint=login_command(server.url), code=_code(error))
    hints = {
        Kind.LOGIN: login_command(server.url),
        Kind.SERVICE_ACCOUNT: "Check AGENTENGINE_CLIENT_ID and AGENTENGINE_CLIENT_SECRET, or "
        f"unset them and use: {login_command(server.url)}",
        Kind.OWNER_TOKEN: "The owner token of a server is in its project's directory: "
        ".agentengine/owner-token",
    }
    return CliError(
        f"{server.url} refused {credential.speaker}: {error}",
        hint=hints[credential.kind],
        code=_code(error),
    )


def _no_project(error: Exception, server: Server) -> CliError:
    return CliError(
        f"{server.url} has no project {server.project_id}, or none for you: {error}",
        hint=f"See which there are: agentengine project list --base-url {server.url}",
        code=_code(error),
    )


def _forbidden(error: Exception, server: Server) -> CliError:
    speaker = server.credential.speaker if server.credential else "nobody"
    is_program = server.credential is not None and server.credential.kind is Kind.SERVICE_ACCOUNT
    instead = "what no program may do needs a login, or" if is_program else "or"
    given_by = "service-account create NAME" if is_program else "project member add USER"
    return CliError(
        f"You are {speaker} at {server.url}: {error}",
        hint="Administration needs the role PROJECT_OWNER, which an owner of the project gives: "
        f"agentengine {given_by} --role PROJECT_OWNER --project-id "
        f"{server.project_id}; {instead} the server's owner token in AGENTENGINE_OWNER_TOKEN",
        code=_code(error),
    )


def _missing(error: Exception, server: Server) -> CliError | None:
    """Tell a server that is too old from an address where something else answers."""
    assert isinstance(error, server_errors.MemoryServerError)
    if error.details.get("code") in ROUTE_MISSING:
        path = urlsplit(server.url).path
        if path and f" {path}/api/" in str(error):  # nothing in between takes it off
            return NotMemoryServer(
                f"The memory server is not below the path {path}: {error}",
                hint=f"Its address is {server.url.removesuffix(path)}",
            )
        return ServerTooOld(
            f"The server at {server.url} is too old for this command: {error}",
            hint="Upgrade it where it runs: agentengine memory apply --upgrade",
        )
    status = int(error.details.get("status") or 0)
    if "code" in error.details or not status:
        return None
    if status in GATEWAY:
        return ServerNotRunning(
            f"What stands before {server.url} answers, and not the memory server: {error}",
            hint="Wait for it to come back, or start it where it runs",
        )
    return NotMemoryServer(
        f"What answers at {server.url} is no memory server: {error}",
        hint=f"Check the address; a memory server answers curl {server.url}/health with JSON",
    )


_TABLE: Sequence[tuple[type[Exception], Callable[[Exception, Server], CliError | None]]] = (
    (ConnectionError, _unreachable),
    (TimeoutError, _timed_out),
    (server_errors.NotAuthenticated, _unauthorized),
    (server_errors.ProjectNotFound, _no_project),
    (server_errors.IdentityRefused, _as_it_is),
    (server_errors.Forbidden, _forbidden),
    (server_errors.MemoryServerError, _missing),
)
"""Their error and how it is told, the most specific first; None: as `errors.explain` does."""


def _code(error: Exception) -> str | None:
    assert isinstance(error, server_errors.MemoryServerError)
    return str(error.details.get("code") or error.code)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what caused it, down to the first cause."""
    found: BaseException | None = error
    while found is not None:
        yield found
        found = found.__cause__ or found.__context__
