import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from agentengine_cli.connection import NotLoggedIn, Server
from agentengine_cli.credentials import AccountToken, Credential, LoginToken, OwnerToken
from agentengine_cli.errors import CliError
from agentengine_cli.home import user_directory
from agentengine_cli.remote_errors import explain_at
from memory_server import errors
from memory_server.client import ServerTimeout, ServerUnreachable
from memory_server.client.transport import error_from
from tests.unit.agentengine_cli.conftest import Cli
from tests.unit.agentengine_cli.control.manual_clock import ManualClock
from tests.unit.agentengine_cli.logged_in import URL, a_login

HTML = b"<html><h1>It works!</h1></html>"
OWNER: Credential = OwnerToken(value="t", source="AGENTENGINE_OWNER_TOKEN")
ACCOUNT: Credential = AccountToken(base_url=URL, client_id="ae_sa_id_1", client_secret="s")
LOGIN: Credential = LoginToken(
    login=a_login(), directory=user_directory({"HOME": "/nowhere"}), clock=ManualClock()
)


def told(error: Exception, credential: Credential | None = LOGIN) -> CliError:
    explained = explain_at(error, Server(url=URL, project_id="p", credential=credential))
    assert explained is not None
    return explained


def caused(cause: BaseException) -> ServerUnreachable:
    error = ServerUnreachable(URL)
    error.__cause__ = OSError("All connection attempts failed")
    error.__cause__.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "code", "fix"),
    [
        (caused(ConnectionRefusedError()), "SERVER_NOT_RUNNING", "memory apply --wait"),
        (caused(socket.gaierror(-2, "Name or service not known")), "HOST_UNKNOWN", "spelled"),
        (caused(ssl.SSLError(1, "wrong version number")), "TLS_FAILED", "http://memory.example"),
        (caused(ssl.SSLCertVerificationError(1, "x")), "TLS_FAILED", "SSL_CERT_FILE"),
        (ServerUnreachable(URL), "SERVER_NOT_RUNNING", f"curl {URL}/health"),
        (ServerTimeout(URL), "TIMEOUT", "--timeout"),
        (error_from(502, HTML), "SERVER_NOT_RUNNING", "come back"),
        (error_from(404, HTML), "NOT_MEMORY_SERVER", f"curl {URL}/health"),
        (error_from(404, b'{"detail": "Not Found"}'), "NOT_MEMORY_SERVER", "Check the address"),
        (error_from(404, b'{"code": "ROUTE_NOT_FOUND"}'), "SERVER_TOO_OLD", "apply --upgrade"),
        (error_from(405, b'{"code": "METHOD_NOT_ALLOWED"}'), "SERVER_TOO_OLD", "--upgrade"),
        (error_from(403, b'{"code": "PROJECT_NOT_FOUND"}'), "PROJECT_NOT_FOUND", "project list"),
        (error_from(403, b'{"code": "FORBIDDEN"}'), "FORBIDDEN", "PROJECT_OWNER"),
        (error_from(401, b'{"code": "TOKEN_EXPIRED"}'), "TOKEN_EXPIRED", "auth login"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_hinders_a_command_is_told_with_what_mends_it(
    error: Exception, code: str, fix: str
) -> None:
    explained = told(error)

    assert explained.code == code
    assert fix in str(explained.hint)
    assert URL in f"{explained} {explained.hint}"


@pytest.mark.parametrize(
    ("credential", "fix"),
    [
        (LOGIN, f"agentengine auth login --base-url {URL}"),
        (ACCOUNT, "AGENTENGINE_CLIENT_SECRET"),
        (OWNER, ".agentengine/owner-token"),
        (None, f"agentengine auth login --base-url {URL}"),
    ],
    ids=["login", "account", "owner", "nobody"],
)
def test_a_refused_credential_is_told_by_what_it_is(
    credential: Credential | None, fix: str
) -> None:
    assert fix in str(told(errors.NotAuthenticated(), credential).hint)


@pytest.mark.parametrize(
    ("credential", "command"),
    [(LOGIN, "project member add USER"), (ACCOUNT, "service-account create NAME")],
    ids=["person", "program"],
)
def test_who_may_not_administer_is_told_how_their_like_gets_the_role(
    credential: Credential, command: str
) -> None:
    refused = told(error_from(403, b'{"code": "FORBIDDEN"}'), credential)

    assert f"agentengine {command} --role PROJECT_OWNER --project-id p" in str(refused.hint)
    assert ("needs a login" in str(refused.hint)) is (credential is ACCOUNT)


@pytest.mark.parametrize(
    ("missing", "code", "fix"),
    [
        (b"/agents/api/v1/auth/me", "NOT_MEMORY_SERVER", f"Its address is {URL}"),
        (b"/api/v1/auth/me", "SERVER_TOO_OLD", "--upgrade"),
    ],
    ids=["not below it", "a proxy takes it off"],
)
def test_an_address_with_a_path_is_right_where_something_takes_the_path_off(
    missing: bytes, code: str, fix: str
) -> None:
    answer = b'{"code": "ROUTE_NOT_FOUND", "error": "this server has no route %b"}' % missing
    server = Server(url=f"{URL}/agents", project_id="p", credential=LOGIN)

    explained = explain_at(error_from(404, answer), server)

    assert explained is not None
    assert (explained.code, fix in str(explained.hint)) == (code, True)


def test_a_refused_user_id_is_told_in_the_servers_words() -> None:
    refused = error_from(403, b'{"code": "IDENTITY_REFUSED", "error": "user_id: not yours"}')

    assert str(told(refused)) == "user_id: not yours"


def test_a_fault_of_the_server_is_told_with_its_request() -> None:
    fault = error_from(500, b'{"code": "INTERNAL", "error": "internal error", "request_id": "r7"}')

    assert "r7" in str(told(fault).hint)


def test_a_defect_stays_a_defect() -> None:
    assert explain_at(ZeroDivisionError(), Server(url=URL, project_id="p")) is None


@pytest.mark.parametrize("elsewhere", [(), ("q",)])
def test_nobody_logged_in_is_told_before_anything_is_sent(elsewhere: tuple[str, ...]) -> None:
    server = Server(url=URL, project_id="p", elsewhere=elsewhere)

    with pytest.raises(NotLoggedIn) as refused:
        _ = server.administrator

    assert f"agentengine auth login --base-url {URL} --username NAME" in str(refused.value.hint)
    assert ("--project-id p" in str(refused.value.hint)) is bool(elsewhere)


@pytest.mark.parametrize(
    ("scheme", "answer", "code"),
    [
        ("http", None, "SERVER_NOT_RUNNING"),
        ("https", HTML, "TLS_FAILED"),
        ("http", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "NOT_MEMORY_SERVER"),
    ],
    ids=["refused", "plain", "stranger"],
)
def test_a_real_connection_fails_in_words(
    cli: Cli, scheme: str, answer: bytes | None, code: str
) -> None:
    with stranger(answer) as port:
        where = ("--base-url", f"{scheme}://127.0.0.1:{port}", "--org-id", "o", "--project-id", "p")

        ran = cli("memory", "status", *where, "--json", environ={"AGENTENGINE_OWNER_TOKEN": "t"})

    assert (ran.code, ran.error["code"]) == (1, code)


@contextmanager
def stranger(answer: bytes | None) -> Iterator[int]:
    """Answer one port of this machine with some bytes; None: nobody listens there."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        if answer is None:
            listener.close()
            yield port
            return
        thread = threading.Thread(target=_serve, args=(listener, answer), daemon=True)
        thread.start()
        yield port
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(10)


def _serve(listener: socket.socket, answer: bytes) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                connection.recv(65536)
                connection.sendall(answer)
