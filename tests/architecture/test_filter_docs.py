"""What the page on filters shows works as it says."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from memory_server.app import create_app
from memory_server.domain.filters import Connective, Operator
from memory_server.domain.tokens import TOKENIZER
from memory_server.providers.reranking.local import LONGEST_TEXT, LocalReranker
from memory_server.providers.reranking.voyage import MODEL, VoyageReranker
from memory_server.services.reranking import SECONDS
from tests.clock import ManualClock
from tests.unit.memory_server.api.application import an_application

PAGE = (Path(__file__).parents[2] / "docs/howto/filter-and-rerank.md").read_text(encoding="utf-8")


def example(language: str) -> str:
    """Return the one example of the page in that language."""
    [found] = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


async def test_the_request_is_taken_by_a_server_with_that_configuration(
    tmp_path: Path, clock: ManualClock
) -> None:
    application = an_application(tmp_path, clock, **yaml.safe_load(example("yaml"))["memory"])
    await application.store.open()
    transport = httpx.ASGITransport(create_app(application))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        path = "/api/v1/memory/retrieval/context-from-sources"
        answer = await client.post(path, json=json.loads(example("json")))
    await application.close()

    metadata: dict[str, Any] = answer.json()["metadata"]
    assert answer.status_code == 200
    for field in re.findall(
        r"^\| `(\w+)`(?:, `(\w+)`)? \| ", PAGE.split("tells\n")[-1], re.MULTILINE
    ):
        assert {name for name in field if name} <= set(metadata)


@pytest.mark.parametrize("clause", [*Operator, *Connective])
def test_every_clause_is_explained(clause: str) -> None:
    assert f"`{clause}`" in PAGE.partition("| clause |")[2]


def test_the_figures_are_those_of_the_code() -> None:
    assert f"| {LocalReranker.candidates} | `{LocalReranker.name}` |" in PAGE
    assert f"| {VoyageReranker.candidates} | `{VoyageReranker.name}` |" in PAGE
    assert f"`{MODEL}`" in PAGE
    assert f"after {SECONDS:g} seconds" in PAGE
    assert f"first {LONGEST_TEXT} word pieces" in PAGE
    assert f"`{TOKENIZER}`" in PAGE
