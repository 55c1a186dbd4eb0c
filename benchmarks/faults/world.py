"""A database and the servers that share it, and what is wrong in it at the end."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymongo

from benchmarks.faults.load import Load
from benchmarks.process import Server
from tests.mongo import DatabaseProcess

BASE = "faults"
TYPES = 4
Outcome = tuple[bool, str]
Documents = dict[str, Any]


class Skipped(Exception):
    """The fault cannot be brought about on this machine."""


@dataclass(frozen=True)
class Judgement:
    """What the database holds in the end."""

    wrong: Mapping[str, int]
    """How much is wrong, by what it is; nothing is named that is right."""
    memories: int
    twice: int
    """How many jobs were handed out more than once, as they must be when a worker is gone."""


class World:
    """A database process, servers that share it, and what to read them by."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self._stack = stack
        self.database = DatabaseProcess(folder / "database")
        self.database.start()
        stack.callback(self.database.stop)

    @property
    def environment(self) -> Mapping[str, str]:
        """What every server is told."""
        return {
            "MONGODB_URI": self.database.uri,
            "MONGOMEM_DB_NAME": BASE,
            "AGENTENGINE_OWNER_TOKEN_FILE": str(self.folder / "owner-token"),
            "AGENTENGINE_RATE_LIMIT": "off",
        }

    def server(self, name: str, **environment: str) -> Server:
        """Return a server that is ready, and ended at the end."""
        server = Server(self.folder / name, {**self.environment, **environment})
        self._stack.enter_context(server)
        return server

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """Yield the database."""
        with pymongo.MongoClient[Documents](self.database.uri) as client:
            (name,) = [one for one in client.list_database_names() if one.startswith(BASE)]
            yield client[name]

    def judge(self, load: Load) -> Judgement:
        """Compare the database with what was acknowledged."""
        with self.opened() as database:
            memories = _memories(database)
            return Judgement(
                wrong=_wrong(database, load, memories),
                memories=len(memories),
                twice=database["memory_jobs"].count_documents({"attempts": {"$gt": 1}}),
            )


def for_seconds(seconds: float) -> Callable[[], bool]:
    """Return what tells whether that time is over."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


def outcome(load: Load, judged: Judgement, more: str, *, well: bool = True) -> Outcome:
    """Say what came of a fault."""
    wrong = {what: number for what, number in judged.wrong.items() if what != "lost"}
    said = (
        f"{len(load.acknowledged)} acknowledged, {judged.wrong.get('lost', 0)} lost, "
        f"wrong {wrong or 'nothing'}; refused {dict(load.refused)}; {judged.memories} memories, "
        f"{judged.twice} jobs handed out twice; {more}"
    )
    return well and not judged.wrong and judged.memories > 0, said


def _wrong(database: Any, load: Load, memories: Counter[Any]) -> Mapping[str, int]:
    turns = list(database["memory_turns"].find({}, {"vectors": 0}))
    stored = {(turn["session_id"], turn["turn_seq"]): turn["content"] for turn in turns}
    numbers = Counter(session for session, _ in stored)
    highest = {session: max(seq for one, seq in stored if one == session) for session in numbers}
    runs = list(database["memory_snapshots"].find({}))
    covered = Counter(
        (run["session_id"], seq)
        for run in runs
        for seq in range(run["first_seq"], run["last_seq"] + 1)
    )
    work = Counter(job["snapshot_id"] for job in database["memory_jobs"].find({"kind": "extract"}))
    found = {
        "lost": sum(stored.get(place) != said for place, said in load.acknowledged.items()),
        "stored twice": len(turns) - len(set(stored.values())),
        "gaps": sum(highest[session] != count for session, count in numbers.items()),
        "in two snapshots": sum(times > 1 for times in covered.values()),
        "snapshots without all their jobs": sum(work[run["id"]] != TYPES for run in runs),
        "jobs not done": database["memory_jobs"].count_documents({"state": {"$ne": "done"}}),
        "remembered twice": sum(times > 1 for times in memories.values()),
    }
    return {what: number for what, number in found.items() if number}


def _memories(database: Any) -> Counter[Any]:
    """Count live memories that say the same to the same user."""
    return Counter(
        (name, one["user_id"], one["text"])
        for name in database.list_collection_names(filter={"name": {"$regex": "^memory_"}})
        for one in database[name].find({"is_live": True}, {"user_id": 1, "text": 1})
    )
