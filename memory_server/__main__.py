"""`python -m memory_server`: serve until told to stop."""

import argparse
import asyncio
import contextlib
import errno
import faulthandler
import logging
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

import psutil
import uvicorn

from memory_server.api.connections import served
from memory_server.app import create_app
from memory_server.errors import MemoryServerError
from memory_server.services.deployment import Deployment
from memory_server.settings import ServerRole, Settings, from_environment
from memory_server.supervisor import READY, Supervisor

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8080

_QUIET = ("httpx", "httpcore", "uvicorn.error", "uvicorn.access")
"""Loggers that say at level info what we say ourselves, or should not say at all."""

_NEVER = ("pymongo",)
"""Loggers that at level debug would write down what is stored: each command with its documents."""


_SAFE_PATH = ("-P",) if sys.flags.safe_path else ()

LAST_SECONDS = 90.0
"""How long after it has served on a process may take to stop. Then it is ended whatever it waits
for, and says what that was: work in hand, requests and the store have their own, shorter bounds."""

PORT_TAKEN = 98
"""The exit code that says so: whoever chose the port for us may choose another."""


class CannotStart(Exception):
    """The server cannot listen where it was told to."""

    exit_code = 1


class PortTaken(CannotStart):
    """Another program listens there."""

    exit_code = PORT_TAKEN


@dataclass(frozen=True, slots=True)
class Place:
    """One of several processes on a port: what it was given by its supervisor."""

    listener: socket.socket
    """Shared by all."""
    lifeline: int
    """Ends when the supervisor does."""
    telling: int
    """Where it says that it serves."""


class AnnouncedServer(uvicorn.Server):
    """Says where it serves as soon as it does, and stops in order when it is told to."""

    def __init__(
        self,
        config: uvicorn.Config,
        *,
        deployment: Deployment[Any] | None = None,
        place: Place | None = None,
    ) -> None:
        super().__init__(config)
        self._deployment = deployment
        self._place = place
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_draining = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Say no to new work at once, then end; a second signal does not wait any more."""
        if self._loop is None or self._deployment is None or self._is_draining:
            faulthandler.dump_traceback_later(LAST_SECONDS, exit=True)
            super().handle_exit(sig, frame)
            return
        self._is_draining = True
        serves_on = self._deployment.current.settings.drain_seconds
        faulthandler.dump_traceback_later(serves_on + LAST_SECONDS, exit=True)
        self._loop.call_soon_threadsafe(self._drain, self._loop, self._deployment)

    def _drain(self, loop: asyncio.AbstractEventLoop, deployment: Deployment[Any]) -> None:
        deployment.drain()
        loop.call_later(deployment.current.settings.drain_seconds, self._stop_taking)

    def _stop_taking(self) -> None:
        self.should_exit = True

    def _supervisor_ended(self, lifeline: int) -> None:
        assert self._loop is not None, "only called on it"
        self._loop.remove_reader(lifeline)
        self.handle_exit(signal.SIGTERM, None)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        except OSError as error:
            # Two programs can hold a port until one of them listens.
            host, port = sockets[0].getsockname()[:2] if sockets else ("", 0)
            raise _why_not(host, port, error) from error
        if not self.started or not sockets:
            return
        self._loop = asyncio.get_running_loop()
        if self._place is None:
            _say(f"memory server: {_url(sockets[0])}")
            return
        _say(f"memory server: process {os.getpid()} alone: {_url(sockets[-1])}")
        self._loop.add_reader(self._place.lifeline, self._supervisor_ended, self._place.lifeline)
        os.write(self._place.telling, READY)
        os.close(self._place.telling)


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve, and return the exit code: 0 when told to stop, 1 when it could not start."""
    options = _options(arguments)
    try:
        environ = _environment(options)
        settings = from_environment(environ)
        _log_as(settings)
        if options.place is not None:
            own = _listen(DEFAULT_HOST, 0)
            return _serve(
                settings, own, Place(socket.socket(fileno=options.place[0]), *options.place[1:])
            )
        listener = _listen(options.host, options.port)
        if settings.workers > 1:
            return _supervise(settings.workers, listener, environ)
        return _serve(settings, listener)
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
    parser.add_argument(
        "--role",
        choices=[role.value for role in ServerRole],
        help="api: answers requests and leaves background work to others; worker: does only that; "
        "all: both (the default). Needs MONGODB_URI, other than all",
    )
    parser.add_argument(
        "--workers", help="how many processes share the port; more than 1 need MONGODB_URI"
    )
    parser.add_argument("--place", type=int, nargs=3, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def _environment(options: argparse.Namespace) -> Mapping[str, str]:
    """Return the environment with what the command line says otherwise."""
    told = {"AGENTENGINE_ROLE": options.role, "AGENTENGINE_WORKERS": options.workers}
    return {**os.environ, **{name: value for name, value in told.items() if value is not None}}


def _supervise(count: int, listener: socket.socket, environ: Mapping[str, str]) -> int:
    command = [sys.executable, *_SAFE_PATH, "-m", "memory_server", "--place"]

    async def run() -> int:
        return await Supervisor(
            command,
            count=count,
            listener=listener,
            environ={**environ, "AGENTENGINE_WORKERS": "1"},
            on_serving=lambda: _say(f"memory server: {_url(listener)} ({count} processes)"),
        ).run()

    return asyncio.run(run())


def _serve(settings: Settings, own: socket.socket, place: Place | None = None) -> int:
    # An agent's process asks the very server that started it, which alone knows its badge.
    app = create_app(replace(settings, url=_near_url(own)), on_switch=_log_as)
    config = served(app, trusted_proxies=settings.trusted_proxies)
    server = AnnouncedServer(config, deployment=app.state.deployment, place=place)
    sockets = [own] if place is None else [place.listener, own]
    for number in (signal.SIGINT, signal.SIGTERM):
        # Uvicorn sends the signal again when it has stopped; without a handler of our own it
        # would end the process before the store is closed.
        signal.signal(number, server.handle_exit)

    async def run() -> None:
        async with app.router.lifespan_context(app):
            await server.serve(sockets=sockets)

    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(run())
    faulthandler.cancel_dump_traceback_later()
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
    for name in _NEVER:
        logging.getLogger(name).setLevel(logging.WARNING)


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    entry()
