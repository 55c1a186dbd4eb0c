"""The schema and its numbered steps, forward only."""

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from memory_server.errors import SchemaTooNew

PACKAGES = ("memory_server.search.local", "memory_server.storage.sqlite")
"""Packages with a `migrations` folder; their steps share one numbering."""

_NAME = re.compile(r"(\d{4})_\w+\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    """One step."""

    number: int
    script: str


def migrations(packages: Sequence[str] = PACKAGES) -> Sequence[Migration]:
    """Return the steps in order."""
    files = [
        file
        for package in packages
        for file in resources.files(package).joinpath("migrations").iterdir()
    ]
    steps = [
        Migration(int(match[1]), file.read_text(encoding="utf-8"))
        for file in files
        if (match := _NAME.fullmatch(file.name))
    ]
    return sorted(steps, key=lambda step: step.number)


def migrate(connection: sqlite3.Connection, steps: Sequence[Migration], location: str) -> int:
    """Take the steps not taken yet, each in a transaction; return the schema's version.

    Raises `SchemaTooNew` for a database that a newer program has written.
    """
    version = schema_version(connection)
    newest = steps[-1].number
    if version > newest:
        raise SchemaTooNew(
            f"{location}: its schema is version {version}, this program knows {newest}; "
            "use the newer program"
        )
    for step in steps:
        if step.number > version:
            _take(connection, step)
    return newest


def schema_version(connection: sqlite3.Connection) -> int:
    """Return the number of the last step taken."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _take(connection: sqlite3.Connection, step: Migration) -> None:
    try:
        connection.executescript(
            f"BEGIN IMMEDIATE;\n{step.script}\nPRAGMA user_version = {step.number};\nCOMMIT;"
        )
    except sqlite3.Error:
        if connection.in_transaction:
            connection.rollback()
        raise
