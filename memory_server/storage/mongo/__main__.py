"""`python -m memory_server.storage.mongo`: whether the deployment that is named lets a server in.

Exit codes: 0 it does, or none is named; 1 a person has to mend something; 2 it does not answer now.
"""

import asyncio
import os
import sys

from memory_server.errors import MemoryServerError, StorageUnavailable, StorageUnusable
from memory_server.settings import from_environment
from memory_server.storage.mongo.database import MongoDatabase
from memory_server.storage.mongo.naming import DEFAULT_BASE

REFUSED, AWAY = 1, 2


async def _look() -> None:
    named = from_environment(os.environ).mongodb
    if named is not None:
        database = MongoDatabase(named.uri, named.base or DEFAULT_BASE, named.project_id)
        await database.open()
        await database.close()


def main() -> int:
    """Connect, and return the exit code; what is wrong is the last line of stderr."""
    try:
        asyncio.run(_look())
    except MemoryServerError as error:
        sys.stderr.write(f"{error}\n")
        passes = isinstance(error, StorageUnavailable) and not isinstance(error, StorageUnusable)
        return AWAY if passes else REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(main())
