"""Several servers on one database: what they record together, and that each thing happens once.

    python -m benchmarks.fleet [--servers 1 2 3] [--sessions 200] [--turns 40]
        [--types 4] [--uri URI]

For each number of servers, on an empty database of its own: all sessions are recorded at once,
every turn through another server than the one before. Then all of it is promoted and extracted, and
the database is read: the numbers of every session must be dense, every turn in one snapshot, and
every snapshot extracted once for each type. "bare" is the same transaction (counter and turn) sent
by the driver alone, with as many at once. Without `--uri` a SecantusDB process serves on the same
cores, so the database and the servers take time from each other.

Exit status 1 if anything happened twice or not at all, or if one server records fewer turns than a
tenth of the bare transactions.
"""

import argparse
import asyncio
import secrets
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pymongo
from pymongo import AsyncMongoClient
from pymongo.asynchronous.client_session import AsyncClientSession

from benchmarks.process import Server
from tests.mongo import DatabaseProcess

TYPES = ("semantic", "episodic", "procedural", "taxonomic")
LEAST_SHARE = 0.1
Documents = dict[str, Any]


def main() -> int:
    """Measure, print, and say whether everything happened exactly once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--servers", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--types", type=int, choices=range(1, 5), default=4)
    parser.add_argument("--uri")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        uri = given.uri or database_of(Path(folder), stack)
        bare = asyncio.run(bare_rate(uri, given.sessions, given.turns))
        print(f"bare transactions of the driver: {bare:.0f} a second", flush=True)
        sound = True
        for servers in given.servers:
            place = Path(folder) / str(servers)
            place.mkdir()
            rate, wrong = _measure(uri, place, servers, given)
            sound = sound and not wrong and rate >= bare * LEAST_SHARE
            print(f"{servers} servers: {rate:.0f} turns a second recorded; {wrong or 'all once'}")
    return 0 if sound else 1


def database_of(folder: Path, stack: ExitStack) -> str:
    """Return the address of a database process that ends with the stack."""
    process = DatabaseProcess(folder / "database")
    process.start()
    stack.callback(process.stop)
    return process.uri


def _measure(
    uri: str, folder: Path, servers: int, given: argparse.Namespace
) -> tuple[float, Mapping[str, int]]:
    sessions, turns = given.sessions, given.turns
    base = f"fleet_{secrets.token_hex(4)}"
    environment = {
        "MONGODB_URI": uri,
        "MONGOMEM_DB_NAME": base,
        "AGENTENGINE_OWNER_TOKEN_FILE": str(folder / "owner-token"),
        "AGENTENGINE_RATE_LIMIT": "off",
        "MONGOMEM_ENABLED_EXTRACTIONS": ",".join(TYPES[: given.types]),
    }
    with ExitStack() as stack:
        # The first makes the owner token that the others share.
        fleet = [
            stack.enter_context(Server(folder / f"server-{number}", environment))
            for number in range(servers)
        ]
        started = time.perf_counter()
        asyncio.run(_record([server.url for server in fleet], sessions, turns))
        rate = sessions * turns / (time.perf_counter() - started)
        started = time.perf_counter()
        fleet[0].until_idle()
        print(f"  promoted and extracted in {time.perf_counter() - started:.0f} s", flush=True)
    with pymongo.MongoClient[Documents](uri) as client:
        names = [name for name in client.list_database_names() if name.startswith(base)]
        wrong = _wrong(client[names[0]], given)
        client.drop_database(names[0])
    return rate, wrong


async def _record(urls: Sequence[str], sessions: int, turns: int) -> None:
    limits = httpx.Limits(max_connections=64)
    async with httpx.AsyncClient(timeout=120, limits=limits) as client:

        async def session(number: int) -> None:
            for turn in range(turns):
                url = urls[(number + turn) % len(urls)]
                said = {
                    "session_id": f"session {number}",
                    "user_id": f"user {number}",
                    "role": "user" if turn % 2 == 0 else "assistant",
                    "content": f"I have seen place {turn} of journey {number}.",
                    # What the store could not take now is sent again, as clients do: never twice.
                    "idempotency_key": f"{number}/{turn}",
                }
                where = f"{url}/api/v1/memory/turns"
                answer = await client.post(where, json=said)
                while answer.status_code == httpx.codes.SERVICE_UNAVAILABLE:
                    answer = await client.post(where, json=said)
                answer.raise_for_status()

        await asyncio.gather(*(session(number) for number in range(sessions)))


def _wrong(database: Any, given: argparse.Namespace) -> Mapping[str, int]:
    """Return how much is missing or there twice, by what it is."""
    sessions, turns = given.sessions, given.turns
    kept: dict[str, list[Documents]] = {}
    for turn in database["memory_turns"].find({}, {"vectors": 0}):
        kept.setdefault(turn["session_id"], []).append(turn)
    runs = list(database["memory_snapshots"].find({}))
    covered = Counter(
        (run["session_id"], seq)
        for run in runs
        for seq in range(run["first_seq"], run["last_seq"] + 1)
    )
    places = {(turn["session_id"], turn["turn_seq"]) for one in kept.values() for turn in one}
    jobs = list(database["memory_jobs"].find({"kind": "extract"}))
    work = Counter((job["payload"]["snapshot_id"], job["payload"]["type"]) for job in jobs)
    found = {
        "sessions missing": sessions - len(kept),
        "sessions not dense": sum(
            sorted(turn["turn_seq"] for turn in one) != list(range(1, turns + 1))
            for one in kept.values()
        ),
        "turns in no snapshot": len(places - covered.keys()),
        "turns in two snapshots": sum(times > 1 for times in covered.values()),
        "extractions missing": len(runs) * given.types - len(work),
        "extractions twice": sum(times > 1 for times in work.values()),
        "extractions not done": sum(job["state"] != "done" for job in jobs),
    }
    return {what: number for what, number in found.items() if number}


async def bare_rate(uri: str, sessions: int, turns: int) -> float:
    """Return how many transactions a second the driver alone gets through, as many at once."""
    name = f"bare_{secrets.token_hex(4)}"
    async with AsyncMongoClient[Documents](uri, w="majority") as client:
        database = client[name]
        await database["turns"].create_index([("session", 1), ("seq", 1)], unique=True)

        async def session(number: int) -> None:
            for _ in range(turns):
                async with client.start_session() as held:
                    await held.with_transaction(lambda s: store(s, number))

        async def store(held: AsyncClientSession, number: int) -> None:
            counter = await database["counters"].find_one_and_update(
                {"_id": number},
                {"$inc": {"seq": 1}},
                upsert=True,
                return_document=True,
                session=held,
            )
            assert counter is not None
            turn = {"session": number, "seq": counter["seq"], "content": "a place of a journey"}
            await database["turns"].insert_one(turn, session=held)

        started = time.perf_counter()
        await asyncio.gather(*(session(number) for number in range(sessions)))
        rate = sessions * turns / (time.perf_counter() - started)
        await client.drop_database(name)
    return rate


if __name__ == "__main__":
    sys.exit(main())
