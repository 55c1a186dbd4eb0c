"""What every `Embedder` promises. Each adapter's test module runs the whole class."""

import asyncio

import numpy as np
import pytest

from memory_server.domain.embedding import Embedded, Purpose, Vector
from memory_server.errors import ProviderUnavailable
from memory_server.ports.embedder import Embedder

TEXTS = (
    "Nadia moved to Porto last spring.",
    "The staging server runs out of memory at night.",
    "He adopted a grey cat called Misty.",
    "ok",
    "Grüße aus Köln, 東京 and \N{SLICE OF PIZZA}!",
)
LONG = "The lighthouse keeper wrote down the weather every single day. " * 120


def present(embedded: Embedded) -> list[Vector]:
    """Return the vectors; fails if a text has none."""
    vectors = [vector for vector in embedded.vectors if vector is not None]
    assert len(vectors) == len(embedded.vectors), embedded.reasons
    return vectors


async def one(embedder: Embedder, text: str, purpose: Purpose = Purpose.DOCUMENT) -> Vector:
    """Return the vector of one text."""
    (vector,) = present(await embedder.embed([text], purpose=purpose))
    return vector


class EmbedderContract:
    """A subclass provides the fixture `embedder`."""

    async def test_every_text_gets_a_unit_vector_of_the_space(self, embedder: Embedder) -> None:
        vectors = present(await embedder.embed(TEXTS, purpose=Purpose.DOCUMENT))

        assert [vector.shape for vector in vectors] == [(embedder.space.dimension,)] * len(TEXTS)
        assert {vector.dtype for vector in vectors} == {np.dtype(np.float32)}
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)

    async def test_a_vector_present_has_no_reason(self, embedder: Embedder) -> None:
        embedded = await embedder.embed(TEXTS, purpose=Purpose.DOCUMENT)

        assert list(embedded.reasons) == [None] * len(TEXTS)

    async def test_vectors_come_in_the_order_of_the_texts(self, embedder: Embedder) -> None:
        forward = present(await embedder.embed(TEXTS, purpose=Purpose.DOCUMENT))
        backward = present(await embedder.embed(TEXTS[::-1], purpose=Purpose.DOCUMENT))

        assert np.allclose(forward, backward[::-1], atol=1e-5)

    @pytest.mark.parametrize("purpose", Purpose)
    async def test_a_text_has_the_same_vector_alone_and_in_company(
        self, embedder: Embedder, purpose: Purpose
    ) -> None:
        batch = present(await embedder.embed([*TEXTS, LONG], purpose=purpose))

        alone = [await one(embedder, text, purpose) for text in (*TEXTS, LONG)]

        assert all(
            float(vector @ other) > 0.99999 for vector, other in zip(batch, alone, strict=True)
        )

    async def test_different_texts_have_different_vectors(self, embedder: Embedder) -> None:
        vectors = present(await embedder.embed(TEXTS, purpose=Purpose.DOCUMENT))

        assert len({vector.tobytes() for vector in vectors}) == len(TEXTS)

    async def test_an_empty_batch_gives_an_empty_answer(self, embedder: Embedder) -> None:
        embedded = await embedder.embed([], purpose=Purpose.QUERY)

        assert (len(embedded.vectors), len(embedded.reasons)) == (0, 0)

    @pytest.mark.parametrize("blank", ["", "   ", "\n\t\r\n", "\u3000\u00a0"])
    async def test_a_blank_text_gets_a_reason_and_leaves_the_others_alone(
        self, embedder: Embedder, blank: str
    ) -> None:
        embedded = await embedder.embed([TEXTS[0], blank, TEXTS[1]], purpose=Purpose.DOCUMENT)

        assert [vector is None for vector in embedded.vectors] == [False, True, False]
        assert list(embedded.reasons) == [None, "nothing to embed", None]

    async def test_a_text_longer_than_the_model_takes_gets_one_vector(
        self, embedder: Embedder
    ) -> None:
        vector = await one(embedder, LONG)

        assert vector.shape == (embedder.space.dimension,)
        assert float(np.linalg.norm(vector)) == pytest.approx(1.0, abs=1e-5)

    async def test_half_a_surrogate_pair_does_not_break_the_batch(self, embedder: Embedder) -> None:
        embedded = await embedder.embed(["cut off \ud83c", TEXTS[0]], purpose=Purpose.DOCUMENT)

        assert len(present(embedded)) == 2

    async def test_calls_at_the_same_time_get_their_own_answers(self, embedder: Embedder) -> None:
        alone = [await one(embedder, text) for text in TEXTS]

        together = await asyncio.gather(*(one(embedder, text) for text in TEXTS))

        assert np.allclose(alone, together, atol=1e-5)

    async def test_the_space_is_named_after_model_and_dimension(self, embedder: Embedder) -> None:
        space = embedder.space

        assert space.name == f"{space.model}@{space.dimension}"
        assert -1.0 <= space.unrelated < space.same <= 1.0

    async def test_a_usable_model_passes_its_check(self, embedder: Embedder) -> None:
        await embedder.check()

        await one(embedder, TEXTS[0])

    async def test_a_closed_embedder_says_so(self, embedder: Embedder) -> None:
        await embedder.close()
        await embedder.close()

        with pytest.raises(ProviderUnavailable, match="closed"):
            await embedder.embed(TEXTS, purpose=Purpose.DOCUMENT)
        with pytest.raises(ProviderUnavailable, match="closed"):
            await embedder.check()
