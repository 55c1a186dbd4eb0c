from collections.abc import AsyncIterator
from importlib.util import find_spec

import numpy as np
import pytest

from memory_server.domain.embedding import Purpose
from memory_server.ports.embedder import Embedder
from memory_server.providers.embedding.local import LocalEmbedder
from memory_server.providers.embedding.static_wordllama import Wordllama
from tests.conformance.embedder import EmbedderContract, one

if find_spec("wordllama") is None:
    pytest.skip("needs the extra static: pip install -e '.[static]'", allow_module_level=True)


@pytest.fixture
async def embedder() -> AsyncIterator[Embedder]:
    embedder = LocalEmbedder(Wordllama())
    yield embedder
    await embedder.close()


class TestWordllama(EmbedderContract):
    pass


async def test_a_question_is_nearer_to_what_answers_it(embedder: Embedder) -> None:
    question = await one(embedder, "Which pet does he have?", Purpose.QUERY)

    cat = await one(embedder, "He adopted a grey cat called Misty.")
    server = await one(embedder, "The staging server runs out of memory at night.")

    assert float(question @ cat) > float(question @ server) + 0.1


async def test_vectors_stored_earlier_stay_comparable(embedder: Embedder) -> None:
    vector = await one(embedder, "He adopted a grey cat called Misty.")

    first = [0.023, 0.105, 0.072, 0.083, 0.093, 0.137, 0.061, 0.030]
    assert vector[:8].tolist() == pytest.approx(first, abs=0.001)


async def test_the_order_of_words_does_not_count(embedder: Embedder) -> None:
    said = await one(embedder, "Anna phones Paul")
    reversed_ = await one(embedder, "Paul phones Anna")

    assert np.allclose(said, reversed_, atol=1e-6)
