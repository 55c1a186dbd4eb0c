"""Which database of a deployment is used: its name comes from a base and the project."""

from collections.abc import Collection, Sequence

from memory_server.errors import InvalidProjectConfig

DEFAULT_BASE = "mdb_memory"
LEGACY_BASE = "agentic_memory"

_FORBIDDEN = frozenset('/\\. "$*<>:|?\0')
_LONGEST = 63
"""Bytes, by the database's rules."""


def candidates(base: str, project_id: str) -> Sequence[str]:
    """Return the names that a project's database may have, the preferred one first.

    Where there is one only, it is the name. Raises `InvalidProjectConfig` for a name that no
    database can have.
    """
    if not project_id or base.endswith(f"_{project_id}"):
        names = [base]
    else:
        names = [f"{base}_{project_id}", f"{LEGACY_BASE}_{project_id}", LEGACY_BASE]
    _check(names[0])
    return [*dict.fromkeys(names)]


def database_name(base: str, project_id: str, existing: Collection[str]) -> str:
    """Return the first of the candidates that exists, else the preferred one.

    `existing` are the names of all databases: who could not list them must not guess.
    """
    names = candidates(base, project_id)
    if len(names) == 1:
        return names[0]
    return next((name for name in names if name in existing), names[0])


def _check(name: str) -> None:
    if not name or len(name.encode("utf-8", "replace")) > _LONGEST or _FORBIDDEN & set(name):
        raise InvalidProjectConfig(
            f"{name!r} cannot be the name of a database: at most {_LONGEST} bytes, without any of "
            '/ \\ . " $ * < > : | ? and spaces; set MONGOMEM_DB_NAME and PROJECT_ID so that their '
            "names joined by an underscore fit"
        )
