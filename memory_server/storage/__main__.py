"""`python -m memory_server.storage`: the store that a server with this environment would serve.

What is found is one JSON object on stdout; see `standing.Standing`. Exit codes: 0 it can be served;
1 a person has to mend something; 2 it does not answer now. Why is the last line of stderr.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Sequence

from memory_server.errors import MemoryServerError, StorageUnavailable, StorageUnusable
from memory_server.settings import MongoSettings, Settings, from_environment
from memory_server.storage.sqlite.standing import standing as standing_of_file
from memory_server.storage.standing import Maker, Standing

REFUSED, AWAY = 1, 2


def main(arguments: Sequence[str]) -> int:
    """Look, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", action="store_true", help="count what a database holds")
    parser.add_argument("--claim", metavar="DIRECTORY", help="note that this project made it")
    given = parser.parse_args(arguments)
    maker = given.claim and Maker(directory=given.claim, host=os.uname().nodename)
    try:
        found = _look(from_environment(os.environ), claims=maker or None, counts=given.counts)
    except MemoryServerError as error:
        sys.stderr.write(f"{error}\n")
        passes = isinstance(error, StorageUnavailable) and not isinstance(error, StorageUnusable)
        return AWAY if passes else REFUSED
    sys.stdout.write(json.dumps(found.document()) + "\n")
    return 0


def _look(settings: Settings, *, claims: Maker | None, counts: bool) -> Standing:
    if settings.mongodb is None:
        return standing_of_file(settings.data_dir / "memory.db")
    return asyncio.run(_look_at_database(settings.mongodb, claims=claims, counts=counts))


async def _look_at_database(
    named: MongoSettings, *, claims: Maker | None, counts: bool
) -> Standing:
    from memory_server.storage import mongo  # noqa: PLC0415 - slow to load
    from memory_server.storage.mongo.standing import standing  # noqa: PLC0415 - beside it

    database = mongo.MongoDatabase(named.uri, named.base or mongo.DEFAULT_BASE, named.project_id)
    await database.open()
    try:
        return await standing(database, claims=claims, counts=counts)
    finally:
        await database.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
