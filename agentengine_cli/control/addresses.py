"""Which port the memory server listens on, and who else has it."""

import contextlib
import errno
import socket

import psutil

from agentengine_cli.errors import CliError

HOST = "127.0.0.1"
USUAL_PORT = 8080
"""A first server takes it if it can, because examples and clients assume it."""


class PortTaken(CliError):
    """The port asked for belongs to another program."""


def is_free(port: int) -> bool:
    """Whether a server could listen on the port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
        try:
            probe.bind((HOST, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return False
            raise PortTaken(
                f"Cannot listen on port {port}: {error.strerror}.", hint="Choose another: --port N"
            ) from error
    return True


def free_port() -> int:
    """Return a port nobody listens on at the moment."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def owner(port: int) -> str | None:
    """Describe the process that listens on the port, where the system lets us see it."""
    with contextlib.suppress(psutil.Error):
        for connection in psutil.net_connections("tcp"):
            if (
                connection.status == psutil.CONN_LISTEN
                and connection.laddr
                and connection.laddr.port == port
                and connection.pid is not None
            ):
                return f"{psutil.Process(connection.pid).name()} (process {connection.pid})"
    return None


def in_the_way(port: int) -> str | None:
    """Say who has the usual port, if it is another program than the server on `port`."""
    if port == USUAL_PORT or is_free(USUAL_PORT):
        return None
    return (
        f"The server listens on port {port}, because {USUAL_PORT} is in use by "
        f"{owner(USUAL_PORT) or 'another program'}"
    )


def check(pinned: int | None) -> None:
    """Raise `PortTaken`, naming the owner, when the pinned port is taken."""
    if pinned is not None and not is_free(pinned):
        raise PortTaken(
            f"Port {pinned} is in use by {owner(pinned) or 'another program'}",
            hint="Stop that program, or choose another port: --port N, or "
            "services.memory.port in dev.yaml",
        )


def choose(*, pinned: int | None, recorded: int | None) -> int:
    """Return the port to use: the pinned one, else the last one (8080 at first), else any."""
    check(pinned)
    if pinned is not None:
        return pinned
    wanted = USUAL_PORT if recorded is None else recorded
    return wanted if is_free(wanted) else free_port()
