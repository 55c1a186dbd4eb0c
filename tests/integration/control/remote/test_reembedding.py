"""Another embedding model for a server elsewhere."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_server.app import create_app
from memory_server.settings import from_environment
from tests.integration.control.remote.conftest import OWNER_TOKEN, Remote
from tests.integration.providers.embedding.embedding_server import EmbeddingServer, serving
from tests.listening import listening
from tests.unit.agentengine_cli.conftest import Cli

CONFIG = """memory_only: true
memory:
  embedding: {{provider: openai, model: {model}, dimension: {models.dimension},
    base_url: "{models.address}"}}
  extraction_llm: {{provider: local}}
  short_term: {{embed_on_write: true}}
"""


@pytest.fixture
def models() -> Iterator[EmbeddingServer]:
    with serving(64) as models:
        yield models


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Remote]:
    """A server that no other test has."""
    token = tmp_path / "owner-token"
    token.write_text(OWNER_TOKEN)
    settings = from_environment(
        {
            "AGENTENGINE_DATA_DIR": str(tmp_path / "data"),
            "AGENTENGINE_OWNER_TOKEN_FILE": str(token),
            "OPENAI_API_KEY": "nobody-looks-at-it",
        }
    )
    with listening(create_app(settings)) as url:
        yield Remote(url)


def test_its_vectors_are_made_anew_and_the_end_can_be_waited_for(
    cli: Cli, home: Path, alone: Remote, models: EmbeddingServer
) -> None:
    where, owner = alone.project(), alone.owner
    file = home / "project-config.yaml"
    turns = [{"session_id": "s", "user_id": "ana", "role": "user", "content": "Oslo is cold"}] * 9
    (home / "turns.jsonl").write_text("".join(json.dumps(turn) + "\n" for turn in turns))
    for model in ("first", "second"):
        file.write_text(CONFIG.format(model=model, models=models))
        assert cli("memory", "configure", "--yes", *where, environ=owner).code == 0
        if model == "first":
            assert cli("memory", "apply", "--wait", *where, environ=owner).code == 0
            assert (
                cli("memory", "import", str(home / "turns.jsonl"), *where, environ=owner).code == 0
            )

    refused = cli("memory", "apply", *where, environ=owner)
    would = cli("memory", "reembed", "--dry-run", *where, environ=owner)
    unasked = cli("memory", "reembed", *where, environ=owner)
    done = cli("memory", "reembed", "--yes", "--wait", *where, environ=owner)
    status = cli("memory", "status", "--json", *where, environ=owner).json
    again = cli("memory", "reembed", "--yes", "--json", *where, environ=owner).json

    assert (refused.code, "agentengine memory reembed" in refused.err) == (1, True)
    assert "would: 9 vectors are made anew" in would.out
    assert (unasked.code, "--yes" in unasked.err) == (1, True)
    assert (done.code, "first@64 -> second@64" in done.out) == (0, True)
    assert status["embedding"]["model"] == "second"
    assert status["reembedding"].get("state") in {"removing", None}
    assert again["reasons"] == []
