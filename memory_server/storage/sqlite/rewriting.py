"""Writing the file anew, so that what was deleted cannot be read from the disk."""

import sqlite3

from memory_server.errors import StorageUnavailable
from memory_server.search.local import documents


def rewrite(connection: sqlite3.Connection) -> None:
    """Leave nothing of what was deleted in the file or in its write-ahead log.

    The index of words keeps deleted ones until it is merged, pages keep copies of rows that were
    moved, and the log keeps what pages held before. No transaction may be open. Takes about two
    seconds for 100 MB, and as much disk again meanwhile.
    """
    documents.drop_deleted_words(connection)
    connection.execute("PRAGMA temp_store = FILE")  # else the copy would be made in memory
    try:
        connection.execute("VACUUM")
    finally:
        connection.execute("PRAGMA temp_store = MEMORY")
    (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise StorageUnavailable("another program reads the file for too long")
