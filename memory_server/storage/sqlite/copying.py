"""Seeing, or copying, the whole database as it is at one moment, while it is written to."""

import contextlib
import os
import secrets
import sqlite3
from pathlib import Path
from typing import IO

from memory_server.storage.sqlite.connection import open_reader, open_writer

_MARK = ".copy-"


def open_moment(path: Path) -> sqlite3.Connection:
    """Return a connection to a file that goes on seeing what it holds now."""
    connection = open_reader(path)
    try:
        connection.execute("BEGIN")
        connection.execute("SELECT 1 FROM sessions LIMIT 1").fetchone()  # the moment is this one
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def copied(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Return a copy of a database, in memory."""
    copy = open_writer(None)
    try:
        connection.backup(copy)
    except sqlite3.Error:
        copy.close()
        raise
    return copy


def copy_of(path: Path) -> IO[bytes]:
    """Return a copy of a file, open to be read; it has no name any more and goes when closed."""
    name = path.with_name(f"{path.name}{_MARK}{secrets.token_hex(8)}")
    os.close(os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with (
            contextlib.closing(open_reader(path)) as source,
            contextlib.closing(sqlite3.connect(name)) as copy,
        ):
            source.backup(copy)  # in one step: what is written meanwhile would make it begin anew
        return name.open("rb")
    finally:
        name.unlink()


def remove_leftovers(path: Path) -> None:
    """Remove copies that a process before this one did not come to the end of."""
    for leftover in path.parent.glob(f"{path.name}{_MARK}*"):
        leftover.unlink(missing_ok=True)
