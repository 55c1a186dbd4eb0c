"""What was acknowledged is there, whatever becomes of the database process."""

import asyncio
import importlib.util
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pymongo
import pytest

from memory_server.domain.turn import Turn
from memory_server.errors import StorageError
from memory_server.storage.mongo import MongoDatabase, MongoStore
from tests.clock import ManualClock
from tests.factories import PROJECT, SESSION, a_turn
from tests.mongo import DatabaseProcess

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("secantus") is None, reason="needs a database process to kill"
)
ENOUGH = 12
"""After how many acknowledged turns the process is killed."""


@pytest.fixture
def process(tmp_path: Path) -> Iterator[DatabaseProcess]:
    process = DatabaseProcess(tmp_path / "db", "--enable-test-commands")
    process.start()
    yield process
    process.stop()


@pytest.fixture
async def store(process: DatabaseProcess, clock: ManualClock) -> AsyncIterator[MongoStore]:
    store = MongoStore(MongoDatabase(process.uri, "memory"), clock=clock)
    await store.open()
    yield store
    await store.close()


class Writers:
    """Some who record one turn after the other, each again until it is acknowledged."""

    def __init__(self, store: MongoStore) -> None:
        self._store = store
        self.acknowledged: list[Turn] = []
        self.failures = 0
        self.enough = asyncio.Event()

    async def write(self, writer: int, turns: int) -> None:
        for number in range(turns):
            key = f"{writer}/{number}"
            while not await self._try(a_turn(f"turn {key}", idempotency_key=key)):
                self.failures += 1

    async def _try(self, turn: Any) -> bool:
        try:
            self.acknowledged.append(await self._store.turns.append(turn))
        except StorageError:
            return False
        if len(self.acknowledged) >= ENOUGH:
            self.enough.set()
        return True


async def test_nothing_acknowledged_is_lost_or_doubled_when_the_database_is_killed(
    process: DatabaseProcess, store: MongoStore
) -> None:
    writers = Writers(store)

    async def kill() -> None:
        await writers.enough.wait()
        process.kill()
        await asyncio.to_thread(process.start)

    await asyncio.gather(kill(), *(writers.write(number, 5) for number in range(6)))

    run = await store.turns.run(PROJECT, SESSION, first_seq=1, last_seq=99)
    assert [turn.turn_seq for turn in run] == [*range(1, 31)]
    assert {turn.id: turn.turn_seq for turn in run} == {
        turn.id: turn.turn_seq for turn in writers.acknowledged
    }
    session = await store.snapshots.session(PROJECT, SESSION)
    assert session is not None
    assert session.last_seq == 30


LOST_ANSWERS: dict[str, dict[str, Any]] = {
    "before it is carried out": {"closeConnection": True},
    "after it was carried out": {
        "writeConcernError": {"code": 64, "errmsg": "a majority did not answer in time"}
    },
}
"""What becomes of a commit whose answer does not come."""


@pytest.mark.parametrize("failure", LOST_ANSWERS.values(), ids=LOST_ANSWERS)
@pytest.mark.parametrize("key", ["k", None])
async def test_a_commit_whose_answer_was_lost_is_not_carried_out_twice(
    process: DatabaseProcess, store: MongoStore, failure: dict[str, Any], key: str | None
) -> None:
    await store.turns.append(a_turn())
    with pymongo.MongoClient[dict[str, Any]](process.uri) as client:
        client.admin.command(
            "configureFailPoint",
            "failCommand",
            mode={"times": 2},
            data={"failCommands": ["commitTransaction"], **failure},
        )

    turn = a_turn("said once", idempotency_key=key)
    stored = await store.turns.append(turn)

    run = await store.turns.run(PROJECT, SESSION, first_seq=1, last_seq=99)
    assert [turn.id for turn in run][1:] == [turn.id]
    assert stored.turn_seq == 2
    assert (await store.turns.append(a_turn())).turn_seq == 3
