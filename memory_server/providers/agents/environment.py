"""The environment that an agent's process gets."""

import os
from collections.abc import Mapping

from memory_server.providers.agents.settings import AgentSettings

_MACHINE = ("PATH", "HOME", "LANG", "TMPDIR", "TZ", "USER", "LOGNAME", "SSL_CERT_FILE")
"""What a program needs of the machine it runs on; also every LC_*."""
_OURS = ("AGENTENGINE_", "AGENTIC_MEMORY_", "MONGODB_URI", "MONGOMEM_")
"""Beginnings of names that the server sets itself, or keeps to itself: with the address of the
store, an agent would reach everybody's memory, past every rule of whose it may see."""
_LOOPBACK = "127.0.0.1,localhost"


def environment(
    settings: AgentSettings,
    shell: Mapping[str, str],
    *,
    project_id: str,
    org_id: str,
    memory_url: str | None,
    token: str,
) -> dict[str, str]:
    """Return it: the machine's part, the project's keys, and what the official SDK looks for.

    `memory_url` None, or an agent without memory: nothing of memory is in it.
    """
    kept = {name: shell[name] for name in _MACHINE if name in shell}
    kept |= {name: value for name, value in shell.items() if name.startswith("LC_")}
    kept |= {
        name: value for name, value in settings.environment.items() if not name.startswith(_OURS)
    }
    kept |= {
        "APP_ID": settings.name,
        "ORG_ID": org_id,
        "PROJECT_ID": project_id,
        "PYTHONFAULTHANDLER": "1",
        "PYTHONIOENCODING": "utf-8:backslashreplace",
        "PYTHONSAFEPATH": "1",
        "PYTHONUNBUFFERED": "1",
    }
    if not settings.remembers or memory_url is None:
        return kept
    return kept | {
        "AGENTIC_MEMORY_BASE_URL": memory_url,
        "AGENTIC_MEMORY_PROJECT_ID": project_id,
        "AGENTIC_MEMORY_SERVICE_ACCOUNT_TOKEN": token,
        "MEMORY_SERVER_URL": memory_url,
        "OE_URL": memory_url,
        # The SDK must reach this machine even where the world is behind a proxy.
        "NO_PROXY": ",".join(filter(None, (kept.get("NO_PROXY"), _LOOPBACK))),
    }


def sources(directory: str) -> int:
    """Return a number that changes with the agent's Python files: their names, sizes and times.

    Directories of environments and caches are left out, and more than ten thousand files.
    """
    found: list[tuple[str, int, int]] = []
    for place, below, names in os.walk(directory):
        below[:] = sorted(
            name for name in below if not name.startswith(".") and name not in _PASSED_OVER
        )
        found += [_mark(os.path.join(place, name)) for name in names if name.endswith(".py")]  # noqa: PTH118 thousands of files before each call
        if len(found) > _MOST_FILES:
            break
    return hash(tuple(sorted(found)))


_PASSED_OVER = frozenset(("__pycache__", "node_modules", "venv", "site-packages"))
_MOST_FILES = 10_000


def _mark(path: str) -> tuple[str, int, int]:
    try:
        found = os.stat(path)  # noqa: PTH116 as above
    except OSError:  # removed meanwhile
        return path, 0, 0
    return path, found.st_mtime_ns, found.st_size
