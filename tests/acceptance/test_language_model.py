"""A project whose extraction is a language model behind an OpenAI-compatible endpoint."""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import pytest

from tests.acceptance.conftest import Shell
from tests.chat_server import ChatServer, fails, running, says, says_items

KEY = "the-key-of-this-test"
SAID = "I always fly out of Boston."
PROSE = "Dear colleague, they fly out of Boston."
USERS = 12
FAILURES, SLOTS, PROBES = 5, 2, 4
DEADLINE = 180.0

T = TypeVar("T")
FACT = {
    "subject": "user",
    "attribute": "home_airport",
    "value": "Boston",
    "exclusive": True,
    "text": "The user always flies out of Boston.",
    "evidence": [1],
}


@pytest.fixture
def model() -> Iterator[ChatServer]:
    with running() as server:
        yield server


@pytest.fixture
def hosted(project: Shell, model: ChatServer) -> Shell:
    """A running project: built-in embedding, and that model for facts, its key a secret."""
    config = f"""\
memory:
  embedding: {{provider: local}}
  extraction_llm:
    provider: openai
    model: some-model
    base_url: {model.url}
    api_key_secret: LLM_API_KEY
  extraction:
    enabled: [semantic]
"""
    (project.directory / "project-config.yaml").write_text(config, encoding="utf-8")
    project.ok("secret", "set", "LLM_API_KEY", "--stdin", stdin=KEY)
    project.ok("memory", "configure", "--yes")
    project.ok("memory", "apply", "--wait")
    return project


def test_model_extracts_and_answers_with_the_key_that_was_stored(
    hosted: Shell, model: ChatServer
) -> None:
    model.default = says("You fly from Boston.")
    answer = hosted.ok("invoke", "--user-id", "ana", "I always fly out of Boston.")
    model.default = says_items(FACT)
    hosted.ok("memory", "flush")

    shown = hosted.ok("memory", "show", "--user-id", "ana", "--json").document
    assert answer.out.strip() == "You fly from Boston."
    assert [memory["content"] for memory in shown["memories"]] == [FACT["text"]]
    assert {request.headers["authorization"] for request in model.received} == {f"Bearer {KEY}"}


def test_rejected_key_is_told_and_the_work_waits_for_a_good_one(
    hosted: Shell, model: ChatServer
) -> None:
    model.default = fails(401, message=f"bad key {KEY}")
    refused = hosted.run("invoke", "--user-id", "ana", "I always fly out of Boston.")
    hosted.run("memory", "flush", "--timeout", "3s")

    jobs = hosted.ok("memory", "jobs", "--json").document
    told = hosted.ok("memory", "status").out
    assert refused.code == 1
    # The invocation found out about the key; no job has to try it too.
    assert [(job["state"], job["attempts"]) for job in jobs["jobs"]] == [("queued", 0)]
    assert len(model.received) == 1
    assert "rejected the key" in told
    assert "agentengine secret set NAME" in told
    assert KEY not in refused.out + refused.err + str(jobs) + told


def test_a_provider_that_is_down_is_left_alone_and_named_and_nothing_is_lost(
    hosted: Shell, model: ChatServer
) -> None:
    model.default = fails(503)
    said = [
        {"session_id": f"s{number}", "user_id": f"u{number}", "role": "user", "content": SAID}
        for number in range(USERS)
    ]
    hosted.ok("memory", "import", "-", stdin="\n".join(map(json.dumps, said)))
    hosted.run("memory", "flush", "--timeout", "1s")

    circuit = eventually(lambda: extraction(hosted).get("circuit")) or {}
    assert circuit["code"] == "PROVIDER_UNAVAILABLE"
    first = circuit["next_probe"]
    eventually(lambda: (extraction(hosted).get("circuit") or {}).get("next_probe") != first)
    # Five failures open it, with one more call under way; then one call alone finds out.
    assert len(model.received) <= FAILURES + SLOTS + PROBES
    told = hosted.ok("memory", "status").out
    assert "blocked on: extraction: provider openai: circuit open since" in told
    assert "failed with status 503; nothing is lost and it goes on by itself" in told
    jobs = hosted.ok("memory", "jobs", "--json").document
    assert (jobs["counts"]["queued"], jobs["counts"]["failed"]) == (USERS, 0)
    assert sum(job["attempts"] for job in jobs["jobs"]) <= len(model.received)

    model.default = says_items(FACT)
    eventually(lambda: counts(hosted)["done"] == USERS)
    assert counts(hosted)["failed"] == 0
    for user in ("u0", f"u{USERS - 1}"):
        shown = hosted.ok("memory", "show", "--user-id", user, "--json").document
        assert [memory["content"] for memory in shown["memories"]] == [FACT["text"]]
    eventually(lambda: "state: ready" in hosted.ok("memory", "status").out)
    assert "spending: this hour" in hosted.ok("memory", "status").out


def test_a_failed_answer_is_read_and_retried_by_the_operator(
    hosted: Shell, model: ChatServer
) -> None:
    model.default = says(PROSE)
    said = {"session_id": "s", "user_id": "ana", "role": "user", "content": SAID}
    hosted.ok("memory", "import", "-", stdin=json.dumps(said))
    hosted.run("memory", "flush")

    [job] = hosted.ok("memory", "jobs", "--failed", "--json").document["jobs"]
    assert (job["error_code"], job["result"]["raw"]) == ("INVALID_ANSWER", PROSE)
    assert job["result"]["calls"] == len(model.received)
    assert PROSE not in hosted.ok("memory", "status").out + hosted.ok("logs").out

    model.default = says_items(FACT)
    hosted.ok("memory", "retry", job["id"])
    eventually(lambda: counts(hosted)["done"] == 1)


def extraction(shell: Shell) -> dict[str, Any]:
    return dict(shell.ok("memory", "status", "--json").document["extraction"])


def counts(shell: Shell) -> dict[str, int]:
    return dict(shell.ok("memory", "jobs", "--json").document["counts"])


def eventually(look: Callable[[], T]) -> T:
    """Return what a look finds, once it finds anything."""
    deadline = time.monotonic() + DEADLINE
    while not (found := look()):
        assert time.monotonic() < deadline, "it did not come to that in time"
    return found
