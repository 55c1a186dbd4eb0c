"""Another embedding model for what is remembered already."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import Shell
from tests.integration.providers.embedding.embedding_server import (
    EmbeddingServer,
    Reply,
    Request,
    serving,
)

DEADLINE = 180.0
SESSIONS, TURNS = 4, 20
BATCH = 64
"""Texts that are embedded at once."""
CONFIG = """
memory_only: true
memory:
  embedding: {{provider: openai, model: {model}, dimension: {dimension}, base_url: "{url}"}}
  extraction_llm: {{provider: local}}
  short_term: {{embed_on_write: true}}
"""
ANIMALS = ("dog", "cat", "bird", "horse")


class Meter:
    """Lets a number of requests for documents pass, and the rest wait until it is opened."""

    def __init__(self, server: EmbeddingServer, *, passing: int) -> None:
        self.server = server
        self.left = passing
        self.texts = 0
        server.rules.append(self)

    def __call__(self, request: Request) -> Reply | None:
        if len(request.texts) > 1:
            if self.left <= 0:
                return Reply(hangs=True)
            self.left -= 1
        self.texts += len(request.texts)
        return None

    def open(self) -> None:
        self.left = 1000
        self.server.released.set()


@pytest.fixture
def old() -> Iterator[EmbeddingServer]:
    with serving(384) as server:
        yield server


@pytest.fixture
def new() -> Iterator[EmbeddingServer]:
    with serving(256) as server:
        yield server


def write(shell: Shell, server: EmbeddingServer, model: str) -> None:
    (shell.directory / "project-config.yaml").write_text(
        CONFIG.format(model=model, dimension=server.dimension, url=server.address)
    )
    shell.ok("memory", "configure", "--yes")


def talk(shell: Shell) -> None:
    """Record what was said, and wait until it is remembered."""
    turns = [
        {
            "session_id": f"s{session}",
            "user_id": "ana",
            "role": "user",
            "content": f"On day {session}-{turn} I saw a {ANIMALS[turn % 4]} near the river.",
        }
        for session in range(SESSIONS)
        for turn in range(TURNS)
    ]
    file = shell.directory / "turns.jsonl"
    file.write_text("".join(json.dumps(turn) + "\n" for turn in turns))
    shell.ok("memory", "import", str(file))
    until(lambda: is_idle(shell))


def is_idle(shell: Shell) -> bool:
    status = shell.status()
    return status["search"]["vectors"] > SESSIONS * TURNS and not any(
        status["jobs"][state] for state in ("queued", "running")
    )


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE
    while not holds():
        assert time.monotonic() < deadline, "it did not come to that in time"


def answers(shell: Shell) -> Any:
    """Return what a search finds, with the scores; those of equal score in any order."""
    found = shell.ok("memory", "search", "a horse near the river", "--user-id", "ana", "--json")
    return sorted((-one["similarity_score"], one["content"]) for one in found.document["memories"])


def progress(shell: Shell) -> dict[str, Any]:
    told: dict[str, Any] = shell.status()["reembedding"]
    return told


@pytest.fixture
def shell(empty: Shell, tmp_path: Path) -> Iterator[Shell]:
    yield from in_directory(tmp_path / "one", empty.home)


@pytest.fixture
def fresh(empty: Shell, tmp_path: Path) -> Iterator[Shell]:
    yield from in_directory(tmp_path / "fresh", empty.home)


@pytest.fixture
def meter(new: EmbeddingServer) -> Iterator[Meter]:
    meter = Meter(new, passing=2)
    yield meter
    meter.open()


def in_directory(directory: Path, home: Path) -> Iterator[Shell]:
    """Yield a shell in a project of its own; whatever it started is stopped."""
    directory.mkdir()
    (directory / ".env").write_text("OPENAI_API_KEY=nobody-looks-at-it\n")
    shell = Shell(directory, home)
    yield shell
    shell.run("dev", "stop")


def build_with(shell: Shell, server: EmbeddingServer, model: str) -> Any:
    """Remember everything with a model, and return what a search answers."""
    write(shell, server, model)
    shell.ok("memory", "apply", "--wait")
    talk(shell)
    return answers(shell)


def killed(shell: Shell) -> None:
    """Kill the server without a warning, and start it again."""
    os.kill(shell.status()["pid"], signal.SIGKILL)
    until(lambda: shell.status()["state"] == "crashed")
    shell.ok("memory", "apply", "--wait")


def test_vectors_are_made_anew_through_a_killed_server_while_the_former_answer(
    shell: Shell, fresh: Shell, old: EmbeddingServer, new: EmbeddingServer, meter: Meter
) -> None:
    before = build_with(shell, old, "old-model")
    write(shell, new, "new-model")
    refused = shell.run("memory", "apply")

    begun = shell.ok("memory", "reembed", "--yes")
    until(lambda: progress(shell)["done"] >= BATCH)
    meanwhile, answered = progress(shell), answers(shell)
    killed(shell)
    restarted, answered_again = progress(shell), answers(shell)
    meter.open()
    shell.ok("memory", "reembed", "--yes", "--wait")

    assert (refused.code, "agentengine memory reembed" in refused.err) == (1, True)
    assert "old-model@384 -> new-model@256" in begun.out
    assert answered == answered_again == before
    assert meanwhile["done"] <= restarted["done"] < restarted["total"]
    assert progress(shell).get("state") in {"removing", None}
    # What was made before the kill is not made again, but for the batch in hand.
    assert meter.texts <= meanwhile["total"] + 2 * BATCH
    assert answers(shell) == build_with(fresh, new, "new-model") != before


def test_a_changed_mind_gives_the_work_up(
    shell: Shell, old: EmbeddingServer, new: EmbeddingServer, meter: Meter
) -> None:
    before = build_with(shell, old, "old-model")
    write(shell, new, "new-model")
    shell.ok("memory", "reembed", "--yes")
    until(lambda: progress(shell)["done"] >= BATCH)

    write(shell, old, "old-model")
    back = shell.ok("memory", "apply", "--wait", "--json").document

    assert "the re-embedding to new-model@256 is given up" in back["reasons"]
    assert progress(shell).get("state") in {"removing", None}
    assert answers(shell) == before
