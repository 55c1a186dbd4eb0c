"""Which web pages may talk to the tools.

Programs send no `Origin`. A browser sends that of the page, also when the page's own name was
made to resolve to this machine; so a page is let in by what it is called, not by what it reached.
"""

from collections.abc import Collection
from ipaddress import ip_address
from urllib.parse import urlsplit

from memory_server.errors import Forbidden


def check_origin(origin: str | None, allowed: Collection[str]) -> None:
    """Raise `Forbidden` unless a request comes from no page, from this machine's or a listed one.

    Listed ones are written as a browser does: scheme, name, and port where it is not the usual.
    """
    if origin is None or origin in allowed or _is_of_this_machine(origin):
        return
    raise Forbidden(
        "pages of this origin may not use these tools; AGENTENGINE_ALLOWED_ORIGINS lists those "
        "that may"
    )


def _is_of_this_machine(origin: str) -> bool:
    try:
        name = urlsplit(origin).hostname or ""
    except ValueError:
        return False
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
