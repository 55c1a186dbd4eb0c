"""What a SQLite file holds, read beside the server that may have it open."""

import contextlib
import sqlite3
from pathlib import Path
from urllib.parse import quote

from memory_server.storage.sqlite.spaces import look
from memory_server.storage.standing import Holdings, Standing

_TURNS = "SELECT count(*) FROM turns"
_MEMORIES = "SELECT count(*) FROM memories WHERE is_latest AND NOT deleted"


def standing(path: Path) -> Standing:
    """Count what is in a file; one that is not there holds nothing."""
    return Standing(kind="sqlite", location=str(path), holdings=_holdings(path))


def _holdings(path: Path) -> Holdings | None:
    if not path.exists():
        return Holdings()
    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    try:
        with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            (turns,) = connection.execute(_TURNS).fetchone()
            (memories,) = connection.execute(_MEMORIES).fetchone()
            return Holdings(turns=turns, memories=memories, spaces=look(connection))
    except sqlite3.Error:  # of another version, or damaged: its server says which
        return None
