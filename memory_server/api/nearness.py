"""Whether a request comes from this machine and was meant for it: the only proof is its way here.

Whoever is let in without a token is let in by this alone, so what is not plain is refused.
"""

import re
import socket
from functools import lru_cache

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection

from memory_server.services.addresses import caller_address

PASSED_ON = frozenset(
    (
        "cf-connecting-ip",
        "client-ip",
        "fastly-client-ip",
        "forwarded",
        "forwarded-for",
        "true-client-ip",
        "via",
        "x-client-ip",
        "x-cluster-client-ip",
        "x-envoy-external-address",
        "x-original-forwarded-for",
        "x-real-ip",
    )
)
"""Headers by which a proxy says that it passes a request on; also every `x-forwarded-...`."""
_PASSED_ON = "x-forwarded"
_FORMER_HTTP = "1.0"
"""What proxies speak by default that say nothing else of themselves."""

_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+?)\.?)(?::[0-9]{1,5})?")
_MACHINE = socket.gethostname().lower()


def is_near(connection: HTTPConnection) -> bool:
    """Return whether a caller is a program of this machine that means this machine.

    A connection without an address is one that was broken off before it was looked at: it can be
    anybody's.
    """
    client = connection.client
    return (
        client is not None
        and _is_loopback(client.host)
        and not _is_passed_on(connection)
        and _names_this_machine(connection.headers)
    )


def _is_passed_on(connection: HTTPConnection) -> bool:
    """Whether a proxy of this machine passes on what may come from anywhere."""
    if connection.scope.get("http_version") == _FORMER_HTTP:
        return True
    names = (name.lower() for name in connection.headers)
    return any(name in PASSED_ON or name.startswith(_PASSED_ON) for name in names)


def _names_this_machine(headers: Headers) -> bool:
    """Whether a request was meant for this machine.

    A page of another site can have its own name resolved to the loopback address and would
    then be a caller from here; its requests still carry that name.
    """
    hosts = headers.getlist("host")
    return len(hosts) == 1 and _is_this_machine(hosts[0])


@lru_cache(maxsize=256)
def _is_loopback(address: str) -> bool:
    found = caller_address(address)
    return found is not None and found.is_loopback


@lru_cache(maxsize=256)
def _is_this_machine(host: str) -> bool:
    parts = _HOST.fullmatch(host)
    if parts is None:
        return False
    name = (parts[1] or parts[2]).lower()
    named = name in ("localhost", _MACHINE) or name.endswith(".localhost")
    return _is_loopback(name) or (named and parts[1] is None)
