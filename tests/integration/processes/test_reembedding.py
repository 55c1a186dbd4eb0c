"""Servers on one database make its vectors anew, whoever of them is killed."""

from collections.abc import Iterator, Sequence
from typing import Any

import pymongo
import pytest

from tests.integration.processes.conftest import ADMIN, TURNS, Start, is_ready
from tests.integration.providers.embedding.embedding_server import (
    EmbeddingServer,
    Reply,
    Request,
    serving,
)
from tests.processes import ServerProcess, until

SEARCH = "/api/v1/memory/search"
BATCH = 64
"""Texts that are embedded at once."""
TOLD = BATCH + 2
ANIMALS = ("dog", "cat", "bird", "horse")


class OneBatch:
    """Embeds one batch of documents, and then none until it is opened."""

    def __init__(self, server: EmbeddingServer) -> None:
        self.server = server
        self.texts = 0
        self.is_open = False
        server.rules.append(self)

    def __call__(self, request: Request) -> Reply | None:
        if len(request.texts) == 1:
            return None
        if self.texts >= BATCH and not self.is_open:
            return Reply(hangs=True)
        self.texts += len(request.texts)
        return None

    def open(self) -> None:
        self.is_open = True
        self.server.released.set()


@pytest.fixture
def old() -> Iterator[EmbeddingServer]:
    with serving(384) as server:
        yield server


@pytest.fixture
def new() -> Iterator[EmbeddingServer]:
    with serving(256) as server:
        yield server


def store(server: ServerProcess, models: EmbeddingServer, name: str) -> None:
    embedding = {
        "provider": "openai",
        "model": name,
        "dimension": models.dimension,
        "base_url": models.address,
    }
    memory = {
        "embedding": embedding,
        "extraction_llm": {"provider": "local"},
        "extraction": {"enabled": ["episodic"]},
    }
    stored = server.ask("PUT", f"{ADMIN}/config", json={"memory": memory})
    assert stored.status_code == 200, stored.text


def tell(server: ServerProcess) -> None:
    """Record what was seen, and wait until it is remembered."""
    for number in range(TOLD):
        content = f"On day {number} I saw a {ANIMALS[number % 4]} near the river."
        session = f"s{number % 2}"
        turn = {"session_id": session, "user_id": "ana", "role": "user", "content": content}
        assert server.ask("POST", TURNS, json=turn).status_code == 201
    flushed = server.ask("POST", f"{ADMIN}/flush")
    assert (flushed.status_code, flushed.json()["warnings"]) == (200, [])
    server.until(is_idle)


def stored(uri: str, database: str) -> int:
    """Return how many turns and memories there are."""
    with pymongo.MongoClient[dict[str, Any]](uri) as client:
        found = client[f"{database}_shop"]
        return sum(found[name].count_documents({}) for name in ("memory_turns", "memory_episodic"))


def holds(server: ServerProcess, documents: int) -> bool:
    """Whether a server's own index has come to all of them: the score of one depends on all."""
    search = server.ready()["search"]
    return bool(search["documents"] == search["vectors"] == documents)


def runs(server: ServerProcess, digest: str) -> bool:
    """Whether a server has come to the configuration that was applied."""
    running = server.ask("GET", f"{ADMIN}/runtime").json()["config"]["running"]
    return bool(running["digest"] == digest)


def is_idle(server: ServerProcess) -> bool:
    counts = server.ask("GET", f"{ADMIN}/jobs").json()["counts"]
    return not counts["queued"] and not counts["running"]


def answers(server: ServerProcess) -> Any:
    """Return what a search finds, with the scores; those of equal score in any order."""
    wanted = {"type": "episodic", "query": "a horse near the river", "user_id": "ana"}
    answer = server.ask("POST", SEARCH, json=wanted)
    assert answer.status_code == 200, answer.text
    found = answer.json()["memories"]
    return sorted((-one["similarity_score"], one["content"]) for one in found)


def progress(server: ServerProcess) -> dict[str, Any]:
    told: dict[str, Any] = server.ready()["reembedding"]
    return told


def lease_ends(uri: str, database: str) -> None:
    """Let the time pass in which a killed worker might still come back."""
    with pymongo.MongoClient[dict[str, Any]](uri) as client:
        jobs = client[f"{database}_shop"]["memory_jobs"]
        jobs.update_many({"state": "running"}, {"$set": {"lease_until": 0}})


def worker_of(uri: str, database: str) -> int | None:
    """Return the process id of the server that has the job; None: it is on its way to one."""
    with pymongo.MongoClient[dict[str, Any]](uri) as client:
        job = client[f"{database}_shop"]["memory_jobs"].find_one({"kind": "reembed"})
    assert job is not None
    owner = job["lease_owner"]
    return owner and int(owner.split(":")[1].split("/")[0])


def remembered(server: ServerProcess, servers: Sequence[ServerProcess], uri: str, name: str) -> Any:
    """Record what was seen, and return what is answered once every server has indexed it all."""
    tell(server)
    everything = stored(uri, name)
    assert everything > TOLD
    for one in servers:
        one.until(lambda one: holds(one, everything))
    return answers(server)


def begin(servers: Sequence[ServerProcess], models: EmbeddingServer, name: str) -> None:
    """Re-embed with another model, and wait until every server knows of it and a batch is done."""
    store(servers[0], models, name)
    begun = servers[0].ask("POST", f"{ADMIN}/apply", json={"reembed": True})
    assert begun.status_code == 200, begun.text
    for server in servers:
        server.until(lambda one: runs(one, begun.json()["digest"]))
        server.until(lambda one: progress(one).get("done", 0) >= BATCH)


def test_another_server_goes_on_where_a_killed_one_was_while_the_former_vectors_answer(
    start: Start, old: EmbeddingServer, new: EmbeddingServer, mongodb: str, database: str
) -> None:
    meter = OneBatch(new)
    servers = [start("first"), start("second")]
    for server in servers:
        server.until(is_ready)
    store(servers[0], old, "old-model")
    assert servers[0].ask("POST", f"{ADMIN}/apply").json()["applied"]
    before = remembered(servers[0], servers, mongodb, database)

    begin(servers, new, "new-model")
    half_way = [answers(one) for one in servers]
    worker = until(lambda: worker_of(mongodb, database))
    [killed] = [one for one in servers if one.process.pid == worker]
    [left] = [one for one in servers if one is not killed]
    killed.process.kill()
    killed.ended()
    lease_ends(mongodb, database)
    kept = progress(left)
    meter.open()
    left.until(lambda one: progress(one).get("state") in {"removing", None})
    third = start("third")
    third.until(is_ready)

    assert half_way == [before, before]
    assert kept["done"] == BATCH
    # What was made before the kill is not made again, but for the batch in hand.
    assert meter.texts <= kept["total"] + BATCH
    after = answers(third)
    assert after != before
    left.until(lambda one: answers(one) == after)
