"""The address of a platform, in one spelling."""

import ipaddress
from urllib.parse import urlsplit

from agentengine_cli.errors import WrongUsage

EXAMPLE = "https://memory.example.com"


def normalized(text: str, *, option: str = "--base-url") -> str:
    """Return the address as it is kept and compared: scheme and host small, no slash at the end.

    Raises `WrongUsage` for what is no http(s) address, or holds a password, a query or a fragment.
    """
    try:
        parts = urlsplit(text.strip())
        port = parts.port
    except ValueError as error:
        raise _refused(option, str(error)) from error
    if parts.scheme.lower() not in {"http", "https"} or not parts.hostname:
        raise _refused(option, "it has to begin with http:// or https://, and name a host")
    if "@" in parts.netloc:
        raise _refused(option, "an address must not hold a user or a password")
    if parts.query or parts.fragment:
        raise _refused(option, "it must end with its path")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    named = host if port in {None, _usual_port(parts.scheme)} else f"{host}:{port}"
    return f"{parts.scheme.lower()}://{named}{parts.path.rstrip('/')}"


def is_exposed(url: str) -> bool:
    """Tell whether what is sent to the address can be read on its way."""
    parts = urlsplit(url)
    return parts.scheme == "http" and not _is_loopback(parts.hostname or "")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _usual_port(scheme: str) -> int:
    return 443 if scheme.lower() == "https" else 80


def _refused(option: str, reason: str) -> WrongUsage:
    return WrongUsage(f"{option} is no address of a server: {reason}", hint=f"Such as {EXAMPLE}")
