"""Connection strings: what is wrong with one, and the part of it that may be shown."""

import re

SCHEMES = ("mongodb://", "mongodb+srv://")

_HOST = re.compile(r"(?:[\w.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")
_PLACEHOLDER = re.compile(r"[<{][^<>{}@/]*[>}]")
_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


def problem_of(uri: str) -> str | None:
    """Return what keeps a MongoDB connection string from being used, without a part of it.

    None: it can be tried.
    """
    scheme = next((one for one in SCHEMES if uri.startswith(one)), None)
    if scheme is None:
        return "it has to begin with mongodb:// or mongodb+srv://"
    account, at, hosts = _parts(uri)
    if _PLACEHOLDER.search(account):
        return "it still holds a placeholder in angle brackets: put the user's password there"
    if at and (set(account) & set("/?#[]@") or account.count(":") > 1 or _ESCAPE.search(account)):
        return (
            "its user name or password holds a character that has to be escaped there: write "
            "@ as %40, : as %3A, / as %2F, % as %25"
        )
    if not hosts or not all(map(_HOST.fullmatch, hosts.split(","))):
        return "it names no host, or one that cannot be: mongodb://HOST:PORT or mongodb+srv://HOST"
    if scheme == SCHEMES[1] and ("," in hosts or ":" in hosts):
        return "with mongodb+srv:// it names one host, and no port"
    return None


def hosts_of(uri: str) -> str:
    """Return the host names of a connection string, parted by commas, and nothing else of it."""
    hosts = [host for host in _parts(uri)[2].split(",") if _HOST.fullmatch(host)]
    return ",".join(hosts) or "(no host)"


def _parts(uri: str) -> tuple[str, str, str]:
    """Return account, whether there is one, and hosts; an account may hold what it must not."""
    rest = uri.partition("://")[2]
    head = rest.partition("?")[0] if "@" not in rest.partition("?")[2] else rest
    account, at, behind = head.rpartition("@")
    return account, at, re.split(r"[/?]", behind, maxsplit=1)[0]
