"""`python -m memory_server`: serve until told to stop."""

import argparse
import asyncio
import contextlib
import errno
import logging
import os
import signal
import socket
import sys
from collections.abc import Sequence
from dataclasses import replace

import psutil
import uvicorn

from memory_server.api.connections import served
from memory_server.app import create_app
from memory_server.errors import MemoryServerError
from memory_server.settings import Settings, from_environment

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8080

_QUIET = ("httpx", "httpcore", "uvicorn.error", "uvicorn.access")
"""Loggers that say at level info what we say ourselves, or should not say at all."""


PORT_TAKEN = 98
"""The exit code that says so: whoever chose the port for us may choose another."""


class CannotStart(Exception):
    """The server cannot listen where it was told to."""

    exit_code = 1


class PortTaken(CannotStart):
    """Another program listens there."""

    exit_code = PORT_TAKEN


class AnnouncedServer(uvicorn.Server):
    """Says where it serves as soon as it does."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        except OSError as error:
            # Two programs can hold a port until one of them listens.
            host, port = sockets[0].getsockname()[:2] if sockets else ("", 0)
            raise _why_not(host, port, error) from error
        if self.started and sockets:
            _say(f"memory server: {_url(sockets[0])}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve, and return the exit code: 0 when told to stop, 1 when it could not start."""
    options = _options(arguments)
    try:
        settings = from_environment(os.environ)
        _log_as(settings)
        listener = _listen(options.host, options.port)
        return _serve(replace(settings, url=_near_url(listener)), listener)
    except MemoryServerError as error:
        _say(f"memory server: {error}")
        for problem in error.details.get("problems", ()):
            if str(problem) not in str(error):
                _say(f"  {problem}")
    except CannotStart as error:
        _say(f"memory server: {error}")
        return error.exit_code
    return 1


def entry() -> None:
    """Run as a console script."""
    sys.exit(main())


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="memory-server",
        description="Serve agent memory over HTTP. The environment says what and how.",
    )
    parser.add_argument("--host", default=DEFAULT_HOST, help="address to listen on")
    parser.add_argument(
        "--port", type=int, default=DEFAULT_PORT, help="port to listen on; 0: any free one"
    )
    return parser.parse_args(arguments)


def _serve(settings: Settings, listener: socket.socket) -> int:
    app = create_app(settings, on_switch=_log_as)
    config = served(app, trusted_proxies=settings.trusted_proxies)
    server = AnnouncedServer(config)
    for number in (signal.SIGINT, signal.SIGTERM):
        # Uvicorn sends the signal again when it has stopped; without a handler of our own it
        # would end the process before the store is closed.
        signal.signal(number, server.handle_exit)

    async def run() -> None:
        async with app.router.lifespan_context(app):
            await server.serve(sockets=[listener])

    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(run())
    return 0


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except (OSError, OverflowError) as error:
        raise _why_not(host, port, error) from error
    # Listening starts with serving, so that nobody connects to a server that is not ready.
    listener.setblocking(False)  # noqa: FBT003 the standard library's signature
    return listener


def _why_not(host: str, port: int, error: Exception) -> CannotStart:
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        who = _owner_of(port) or "another program"
        return PortTaken(f"port {port} on {host} is in use by {who}; choose another with --port")
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return CannotStart(f"cannot listen on {host} port {port}: {reason}")


def _owner_of(port: int) -> str | None:
    """Return the name and id of the process that listens on a port, where we may see it."""
    with contextlib.suppress(psutil.Error):
        for found in psutil.net_connections("tcp"):
            listens = found.status == psutil.CONN_LISTEN
            if listens and getattr(found.laddr, "port", None) == port and found.pid:
                return f"{psutil.Process(found.pid).name()} (process {found.pid})"
    return None


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _near_url(listener: socket.socket) -> str:
    """Return the address for programs of this machine; one for every interface has loopback too."""
    url = _url(listener)
    return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")


def _log_as(settings: Settings) -> None:
    """Log at the configured level, again whenever the configuration changes."""
    level = settings.memory.log_level
    logging.basicConfig(
        level=level.upper(),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        stream=sys.stderr,
        force=True,
    )
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.NOTSET if level == "debug" else logging.WARNING)


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    entry()
