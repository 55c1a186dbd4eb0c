"""Records turns until it is killed, printing the number of each one that was acknowledged."""

import asyncio
import sys
from pathlib import Path

from memory_server.storage.sqlite import SqliteStore
from tests.clock import ManualClock
from tests.factories import SPACE, a_turn, a_vector


async def _client(store: SqliteStore, client: int) -> None:
    number = 0
    while True:
        turn = a_turn(id=f"{client}-{number}", session_id=f"session {client}")
        stored = await store.turns.append(turn, vector=a_vector(1, client), space=SPACE)
        print(stored.id, flush=True)  # noqa: T201 read by the test
        number += 1


async def main() -> None:
    """Write with several clients at once."""
    store = SqliteStore(Path(sys.argv[1]), clock=ManualClock())
    await store.open()
    await asyncio.gather(*(_client(store, client) for client in range(8)))


if __name__ == "__main__":
    asyncio.run(main())
