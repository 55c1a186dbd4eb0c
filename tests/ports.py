"""Ports for processes that are told one before they listen."""

import os
import random
import socket

FIRST, SHARE = 20_000, 500
"""Below what any system gives to connections and to those who ask for port 0."""


def free_port() -> int:
    """Return a port that nobody takes meanwhile: out of the share of this worker of the run."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    share = [FIRST + worker * SHARE + number for number in range(SHARE)]
    random.shuffle(share)
    return next(port for port in share if _is_free(port))


def _is_free(port: int) -> bool:
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do
        try:
            listener.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
