from collections.abc import Sequence

import numpy as np
import pytest

from memory_server.domain.embedding import Vector
from memory_server.errors import ProviderError
from memory_server.providers.embedding.http_answers import RequestRefused
from memory_server.providers.embedding.http_api import Limits
from memory_server.providers.embedding.http_batches import Asking, batches, embed_in_batches

LIMITS = Limits(texts=4, characters=100, characters_per_text=50)
EAST = np.array([1.0, 0.0], dtype=np.float32)


class Api:
    """Answers every text with EAST, refuses the texts listed, and remembers its requests."""

    def __init__(self, *, refused: Sequence[str] = (), longest: int = 1_000_000) -> None:
        self.refused = set(refused)
        self.longest = longest
        self.asked: list[list[str]] = []
        self.checks = 0
        self.takes_requests = True

    async def ask(self, texts: Sequence[str]) -> Sequence[Vector | str]:
        self.asked.append(list(texts))
        if self.refused & set(texts):
            raise RequestRefused("policy", too_long=False)
        if max(map(len, texts)) > self.longest:
            raise RequestRefused("length", too_long=True)
        return [EAST] * len(texts)

    async def check_request(self) -> None:
        self.checks += 1
        if not self.takes_requests:
            raise ProviderError("no such model")

    async def reasons(self, *texts: str, limits: Limits = LIMITS) -> list[str | None]:
        asking = Asking(ask=self.ask, check_request=self.check_request)
        answers = await embed_in_batches(asking, texts, limits)
        return [answer if isinstance(answer, str) else None for answer in answers]


@pytest.mark.parametrize(
    ("texts", "sizes"),
    [
        ([], []),
        (["a"], [1]),
        (["a"] * 4, [4]),
        (["a"] * 5, [4, 1]),
        (["a" * 60, "b" * 60, "c"], [1, 2]),
        (["a" * 50, "b" * 50], [2]),
        (["a" * 500, "b"], [1, 1]),
    ],
)
def test_requests_stay_within_the_limits(texts: list[str], sizes: list[int]) -> None:
    made = list(batches(texts, LIMITS))

    assert [len(batch) for batch in made] == sizes
    assert [text for batch in made for text in batch] == texts


async def test_what_is_accepted_is_asked_once_and_not_checked() -> None:
    api = Api()

    assert await api.reasons("a", "b", "c") == [None] * 3
    assert (api.asked, api.checks) == ([["a", "b", "c"]], 0)


async def test_halving_finds_every_refused_text() -> None:
    api = Api(refused=["b", "d"])

    reasons = await api.reasons("a", "b", "c", "d")

    refused = "refused by the model: policy"
    assert reasons == [None, refused, None, refused]


async def test_a_call_checks_the_request_itself_once() -> None:
    api = Api(refused=["a", "f"])

    await api.reasons("a", "b", "c", "d", "e", "f")

    assert api.checks == 1


async def test_a_request_that_is_never_taken_is_not_blamed_on_its_texts() -> None:
    api = Api(refused=["a"])
    api.takes_requests = False

    with pytest.raises(ProviderError, match="no such model"):
        await api.reasons("a", "b")


async def test_a_long_text_is_cut_before_it_is_sent() -> None:
    api = Api()

    assert await api.reasons("word " * 30) == [None]
    assert max(len(text) for batch in api.asked for text in batch) <= 50


async def test_a_text_refused_for_its_length_is_tried_once_in_short_pieces() -> None:
    api = Api(longest=25)

    assert await api.reasons("a", "word " * 9) == [None, None]
    assert max(map(len, api.asked[-1])) <= 25


async def test_a_text_refused_in_pieces_too_keeps_its_reason() -> None:
    api = Api(longest=5)

    reasons = await api.reasons("a", "word " * 9)

    assert reasons == [None, "too long for the model, and refused in pieces: length"]


async def test_one_sign_that_is_too_long_is_not_cut_further() -> None:
    assert await Api(longest=0).reasons("x") == ["refused by the model: length"]


async def test_a_text_too_long_and_refused_by_piece_is_reported_once() -> None:
    api = Api(refused=["tail"])
    limits = Limits(texts=4, characters=100, characters_per_text=6)

    assert await api.reasons("some  tail", limits=limits) == ["refused by the model: policy"]
