import subprocess
import sys

import numpy as np
import pytest

from memory_server.domain.embedding import Purpose
from memory_server.errors import KeyRejected
from memory_server.providers.embedding.deterministic import Asked, HashingEmbedder
from tests.conformance.embedder import EmbedderContract, one


class TestHashingEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> HashingEmbedder:
        return HashingEmbedder()


async def test_texts_sharing_words_are_nearer_than_texts_that_do_not() -> None:
    embedder = HashingEmbedder()
    fact = await one(embedder, "The billing service is deployed every Thursday.")

    near = await one(embedder, "When do we deploy billing services?")
    far = await one(embedder, "My daughter plays the cello.")

    assert float(fact @ near) > float(fact @ far) + 0.1


@pytest.mark.parametrize("dimension", [1, 8, 64, 1024])
async def test_the_dimension_is_the_callers_choice(dimension: int) -> None:
    vector = await one(HashingEmbedder(dimension=dimension), "a few plain words")

    assert vector.shape == (dimension,)


async def test_another_process_computes_the_same_vector() -> None:
    program = (
        "import asyncio; from memory_server.domain.embedding import Purpose; "
        "from memory_server.providers.embedding.deterministic import HashingEmbedder; "
        "answer = asyncio.run(HashingEmbedder().embed(['grey cat'], purpose=Purpose.QUERY)); "
        "print(answer.vectors[0].tobytes().hex())"
    )
    printed = subprocess.check_output([sys.executable, "-c", program], text=True)  # noqa: S603, ASYNC221 — our own interpreter, and nothing else runs

    here = await one(HashingEmbedder(), "grey cat")

    assert np.array_equal(np.frombuffer(bytes.fromhex(printed), dtype=np.float32), here)


async def test_it_remembers_what_it_was_asked() -> None:
    embedder = HashingEmbedder()

    await embedder.embed(["one", "two"], purpose=Purpose.DOCUMENT)
    await embedder.embed(["three"], purpose=Purpose.QUERY)

    assert embedder.asked == [
        Asked(texts=("one", "two"), purpose=Purpose.DOCUMENT),
        Asked(texts=("three",), purpose=Purpose.QUERY),
    ]


async def test_a_failure_set_by_a_test_is_raised_until_it_is_taken_away() -> None:
    embedder = HashingEmbedder()
    embedder.failure = KeyRejected()

    with pytest.raises(KeyRejected):
        await embedder.embed(["anything"], purpose=Purpose.QUERY)
    with pytest.raises(KeyRejected):
        await embedder.check()

    embedder.failure = None
    await one(embedder, "anything")


async def test_a_refused_text_leaves_the_others_alone() -> None:
    embedder = HashingEmbedder(refuses=["secret"])

    answer = await embedder.embed(["plain", "secret"], purpose=Purpose.DOCUMENT)

    assert [vector is None for vector in answer.vectors] == [False, True]
    assert list(answer.reasons) == [None, "refused by the test"]


async def test_punctuation_alone_is_still_a_text() -> None:
    embedder = HashingEmbedder()

    assert not np.array_equal(await one(embedder, "?!"), await one(embedder, "..."))
