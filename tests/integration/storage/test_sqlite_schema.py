"""The schema's steps, and the statements written against it."""

import sqlite3
from collections.abc import Iterator
from importlib import resources

import pytest

from memory_server.errors import SchemaTooNew
from memory_server.search.local.statements import load
from memory_server.storage.sqlite.connection import open_writer
from memory_server.storage.sqlite.schema import (
    PACKAGES,
    Migration,
    migrate,
    migrations,
    schema_version,
)

FILES = [
    (package, file.name)
    for package in PACKAGES
    for file in resources.files(package).iterdir()
    if file.name.endswith(".sql")
]


class AnyValue(dict[str, None]):
    """Gives every placeholder a value."""

    def __missing__(self, key: str) -> None:
        return None


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    connection = open_writer(None)
    yield connection
    connection.close()


def tables(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}


def test_steps_are_numbered_from_one_without_gaps() -> None:
    assert [step.number for step in migrations()] == list(range(1, len(migrations()) + 1))


def test_a_new_database_takes_every_step(connection: sqlite3.Connection) -> None:
    version = migrate(connection, migrations(), "test")

    assert version == schema_version(connection) == migrations()[-1].number
    assert {"turns", "memories", "jobs", "words"} <= tables(connection)


def test_a_database_goes_on_from_where_it_is(connection: sqlite3.Connection) -> None:
    steps = migrations()
    migrate(connection, steps[:1], "test")
    assert "turns" not in tables(connection)

    migrate(connection, steps, "test")

    assert "turns" in tables(connection)


def test_a_current_database_is_left_alone(connection: sqlite3.Connection) -> None:
    migrate(connection, migrations(), "test")
    statements: list[str] = []
    connection.set_trace_callback(statements.append)

    migrate(connection, migrations(), "test")

    assert statements == ["PRAGMA user_version"]


def test_a_step_that_fails_is_not_half_taken(connection: sqlite3.Connection) -> None:
    broken = [Migration(1, "CREATE TABLE a (x);"), Migration(2, "CREATE TABLE b (x); NONSENSE;")]

    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, broken, "test")

    assert schema_version(connection) == 1
    assert tables(connection) == {"a"}


def test_a_newer_database_is_refused(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA user_version = 77")

    with pytest.raises(SchemaTooNew, match="77"):
        migrate(connection, migrations(), "test")


@pytest.mark.parametrize(("package", "filename"), FILES)
def test_every_statement_fits_the_schema(
    connection: sqlite3.Connection, package: str, filename: str
) -> None:
    migrate(connection, migrations(), "test")
    statements = load(package, filename)

    for statement in statements.values():
        assert connection.execute(f"EXPLAIN {statement}", AnyValue()).fetchall()


@pytest.mark.parametrize(("package", "filename"), FILES)
def test_every_statement_has_a_name_and_a_purpose(package: str, filename: str) -> None:
    text = resources.files(package).joinpath(filename).read_text(encoding="utf-8")

    assert len(load(package, filename)) == text.count(";\n") == text.count("-- name: ")
