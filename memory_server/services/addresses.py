"""Addresses of callers: which they are, on which list, and who is behind them."""

import ipaddress
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

_MAPPED_BITS = 96
"""How many bits of an IPv6 address come before the IPv4 address that is wrapped in it."""
_HOUSEHOLD_BITS = 64
"""How many bits of an IPv6 address are given to a network whole: who has one address in it has
all the others too."""


def caller_address(text: str | None) -> IPv4Address | IPv6Address | None:
    """Return a caller's address, None for what is none.

    A socket for both families gives IPv4 callers as `::ffff:10.1.2.3`; they are unwrapped.
    """
    try:
        address = ipaddress.ip_address(text or "")
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def is_listed(text: str | None, allowed: Sequence[str]) -> bool:
    """Whether a caller's address is on an access list."""
    caller = caller_address(text)
    return caller is not None and any(caller in network_of(entry) for entry in allowed)


def source_of(text: str | None) -> str:
    """Return what counts as one caller where attempts are limited: an address, or a network."""
    caller = caller_address(text)
    if isinstance(caller, IPv6Address):
        return str(ipaddress.ip_network((caller.packed, _HOUSEHOLD_BITS), strict=False))
    return text or "" if caller is None else str(caller)


def network_of(entry: str) -> IPv4Network | IPv6Network:
    """Return the addresses that an entry of an access list means, unwrapped as callers are.

    Raises `ValueError` for what is neither an address nor a network.
    """
    network = ipaddress.ip_network(entry, strict=False)
    mapped = getattr(network.network_address, "ipv4_mapped", None)
    if mapped is None or network.prefixlen < _MAPPED_BITS:
        return network
    return ipaddress.ip_network(f"{mapped}/{network.prefixlen - _MAPPED_BITS}", strict=False)
