import asyncio
import threading
from collections.abc import AsyncIterator, Sequence

import numpy as np
import pytest
from numpy.typing import ArrayLike

from memory_server.domain.embedding import EmbeddingSpace, Purpose
from memory_server.errors import ProviderError, ProviderMissing
from memory_server.providers.embedding.local import LocalEmbedder, LocalModel
from tests.conformance.embedder import EmbedderContract, one


class LetterModel(LocalModel[str]):
    """Takes one word at a time and knows it by its letters; `step` blocks while it is computing."""

    space = EmbeddingSpace(model="letters", dimension=512)
    texts_at_once = 2

    def __init__(self) -> None:
        self.loads = 0
        self.seen: list[str] = []
        self.missing = False
        self.step = threading.Semaphore(10_000)
        self.waits = threading.Event()

    def load(self) -> None:
        if self.missing:
            raise ProviderMissing
        self.loads += 1

    def pieces(self, text: str) -> Sequence[str]:
        return [word for word in text.split() if word != "unknown"]

    def numbers(self, piece: str, purpose: Purpose) -> ArrayLike:
        self.waits.set()
        self.step.acquire()
        self.seen.append(piece)
        numbers = np.zeros(512)
        for place, letter in enumerate(piece):
            numbers[(place + ord(letter)) % 512] += 0.0 if piece == "nothing" else 2.0
        return numbers


@pytest.fixture
def model() -> LetterModel:
    return LetterModel()


@pytest.fixture
async def embedder(model: LetterModel) -> AsyncIterator[LocalEmbedder[str]]:
    embedder = LocalEmbedder(model)
    yield embedder
    model.step.release(10_000)
    await embedder.close()


class TestLocalEmbedder(EmbedderContract):
    pass


async def test_the_model_is_loaded_once_and_late(
    model: LetterModel, embedder: LocalEmbedder[str]
) -> None:
    before = model.loads
    await asyncio.gather(*(one(embedder, "word") for _ in range(5)))

    assert (before, model.loads) == (0, 1)


async def test_a_model_that_was_missing_is_looked_for_again(
    model: LetterModel, embedder: LocalEmbedder[str]
) -> None:
    model.missing = True
    with pytest.raises(ProviderMissing):
        await embedder.check()

    model.missing = False
    await embedder.check()


async def test_a_text_in_pieces_gets_the_mean_of_their_vectors(
    embedder: LocalEmbedder[str],
) -> None:
    a, b = await one(embedder, "a"), await one(embedder, "b")

    both = await one(embedder, "a b")

    assert np.allclose(both, (a + b) / np.linalg.norm(a + b))


async def test_numbers_without_a_direction_cost_one_text_its_vector(
    embedder: LocalEmbedder[str],
) -> None:
    answer = await embedder.embed(["nothing", "a nothing", "unknown", "a"], purpose=Purpose.QUERY)

    assert list(answer.reasons) == [
        "the model answered with zero or non-finite numbers",
        "the model answered with zero or non-finite numbers",
        "the model knows none of its words",
        None,
    ]


async def test_a_model_that_cannot_embed_a_plain_word_fails_its_check(
    model: LetterModel, embedder: LocalEmbedder[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model, "pieces", lambda _: ())

    with pytest.raises(ProviderError, match="cannot embed a plain word"):
        await embedder.check()


async def test_a_query_waits_for_one_step_of_a_batch(
    model: LetterModel, embedder: LocalEmbedder[str]
) -> None:
    model.step = threading.Semaphore(0)
    documents = [f"document{number}" for number in range(20)]
    batches = [
        asyncio.ensure_future(embedder.embed(documents, purpose=Purpose.DOCUMENT)) for _ in range(3)
    ]
    await asyncio.to_thread(model.waits.wait)
    query = asyncio.ensure_future(one(embedder, "query", Purpose.QUERY))
    await asyncio.sleep(0)

    model.step.release(10_000)
    await asyncio.gather(query, *batches)

    assert model.seen.index("query") == model.texts_at_once


async def test_a_query_waits_for_one_piece_of_a_long_text(
    model: LetterModel, embedder: LocalEmbedder[str]
) -> None:
    model.step = threading.Semaphore(0)
    long = asyncio.ensure_future(one(embedder, " ".join(map(str, range(20)))))
    await asyncio.to_thread(model.waits.wait)
    query = asyncio.ensure_future(one(embedder, "query", Purpose.QUERY))
    await asyncio.sleep(0)

    model.step.release(10_000)
    await asyncio.gather(query, long)

    assert model.seen.index("query") == 1
