"""The store that a server would serve, looked at before the server that runs is stopped."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from agentengine_cli.errors import CliError

COMMAND = (sys.executable, "-P", "-m", "memory_server.storage")
OK, AWAY = 0, 2
"""Its exit codes: it is known what there is; what there is does not answer now."""
SECONDS = 30.0
MEND = "agentengine secret set MONGODB_URI, or mend the deployment; then the same again"


class DatabaseRefused(CliError):
    """The deployment that MONGODB_URI names cannot be used as it is."""


class DatabaseAway(CliError):
    """The deployment that MONGODB_URI names does not answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdings:
    """What a store holds, of all projects; spaces are named as `bge-small-en-v1.5@384`."""

    turns: int
    memories: int
    vectors: int
    active: str | None
    """Whose vectors answer."""
    target: str | None
    """Whose vectors are being made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFound:
    """A store as it was found."""

    kind: str
    location: str
    database: str | None = None
    made_in: str | None = None
    """The directory of the project that made the database."""
    made_on: str | None = None
    """The machine that directory is on."""
    holdings: Holdings | None = None
    """None: not counted, or not to be known."""

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return named(self.kind, self.location, self.database)


class StoreLook(Protocol):
    """Looks at the store of the environment that a server would be given."""

    def __call__(
        self, environ: Mapping[str, str], *, counts: bool = False, claim: str | None = None
    ) -> StoreFound:
        """Return what is there, with `counts` how much; `claim` notes a directory as its maker.

        Raises `DatabaseRefused` with what is to be mended, and `DatabaseAway`.
        """
        ...


def look(
    environ: Mapping[str, str], *, counts: bool = False, claim: str | None = None
) -> StoreFound:
    """Look in a process of its own: the command line carries no driver."""
    options = [*(["--counts"] if counts else []), *(["--claim", claim] if claim else [])]
    try:
        done = subprocess.run(  # noqa: S603 our own words
            [*COMMAND, *options],
            env=environ,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise DatabaseAway(f"it did not answer within {SECONDS:g} seconds", hint=MEND) from None
    if done.returncode == OK:
        return _found(json.loads(done.stdout))
    told = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    if done.returncode == AWAY:
        raise DatabaseAway(told[-1], hint=MEND)
    raise DatabaseRefused(f"Nothing was stopped or started: {told[-1]}", hint=MEND)


def named(kind: str, location: str, database: str | None) -> str:
    """Return what a store is called in messages."""
    return f"{location}, database {database}" if kind == "mongodb" else location


def _found(told: Mapping[str, Any]) -> StoreFound:
    maker, held = told["maker"] or {}, told["holdings"]
    return StoreFound(
        kind=told["kind"],
        location=told["location"],
        database=told["database"],
        made_in=maker.get("directory"),
        made_on=maker.get("host"),
        holdings=None if held is None else Holdings(**held),
    )
