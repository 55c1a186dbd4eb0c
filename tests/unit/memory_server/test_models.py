"""Models are made anew only where their configuration or key is another."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory_server import project_config
from memory_server.errors import KeyMissing
from memory_server.models import build_providers
from memory_server.settings import Settings, from_environment
from tests.integration.providers.embedding.embedding_server import serving

VOYAGE = {"embedding": {"provider": "voyage"}, "extraction_llm": {"provider": "local"}}
LOCAL = {"embedding": {"provider": "local"}, "extraction_llm": {"provider": "local"}}


def settings(memory: dict[str, Any], **changes: Any) -> Settings:
    base = from_environment({"AGENTENGINE_DATA_DIR": str(Path())})
    return replace(base, memory=project_config.parse(memory), **changes)


@pytest.mark.parametrize(
    ("memory", "changes"),
    [
        (LOCAL | {"log_level": "debug"}, {}),
        (LOCAL, {"secrets": {"OPENAI_API_KEY": "unused"}}),
        (VOYAGE, {"local_models": True}),
    ],
)
async def test_models_that_stay_the_same_are_used_again(
    memory: dict[str, Any], changes: dict[str, Any]
) -> None:
    before = settings(LOCAL)
    made = build_providers(before)

    again = build_providers(settings(memory, **changes), (before, made))

    assert again.embedder is made.embedder
    assert again.extractor is made.extractor
    assert again.answerer is made.answerer
    await made.embedder.close()


async def test_another_key_makes_another_embedder_and_nothing_else() -> None:
    before = settings(VOYAGE, secrets={"VOYAGE_API_KEY": "one"})
    made = build_providers(before)

    again = build_providers(settings(VOYAGE, secrets={"VOYAGE_API_KEY": "two"}), (before, made))

    assert again.embedder is not made.embedder
    assert again.extractor is made.extractor
    for providers in (made, again):
        await providers.embedder.close()


async def test_a_model_without_its_key_says_where_it_was_looked_for() -> None:
    made = build_providers(settings(VOYAGE))

    with pytest.raises(KeyMissing, match="VOYAGE_API_KEY"):
        await made.embedder.check()


@pytest.mark.parametrize("secrets", [{}, {"OPENAI_API_KEY": "its own"}])
async def test_a_server_of_ones_own_takes_the_key_that_is_there_and_needs_none(
    secrets: dict[str, str],
) -> None:
    with serving(3) as server:
        own = {"provider": "openai", "model": "m", "dimension": 3, "base_url": server.address}
        made = build_providers(settings(LOCAL | {"embedding": own}, secrets=secrets))
        await made.embedder.check()
        await made.embedder.close()

    sent = server.requests[0].headers.get("Authorization")
    assert sent == ("Bearer its own" if secrets else None)


def test_how_much_rules_read_is_told_and_of_a_language_model_nothing() -> None:
    hosted = {"provider": "openai", "model": "m", "base_url": "http://127.0.0.1:1"}

    rules = build_providers(settings(LOCAL)).extraction
    model = build_providers(settings(LOCAL | {"extraction_llm": hosted})).extraction

    assert rules["reads"] == "20,000 characters of a turn, 1,000,000 of a conversation"
    assert "reads" not in model
