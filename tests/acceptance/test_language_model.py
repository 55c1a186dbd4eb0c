"""A project whose extraction is a language model behind an OpenAI-compatible endpoint."""

from collections.abc import Iterator

import pytest

from tests.acceptance.conftest import Shell
from tests.chat_server import ChatServer, fails, running, says, says_items

KEY = "the-key-of-this-test"
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
    assert refused.code == 1
    assert [(job["state"], job["error_code"]) for job in jobs["jobs"]] == [
        ("queued", "KEY_REJECTED")
    ]
    assert KEY not in refused.out + refused.err + str(jobs)
