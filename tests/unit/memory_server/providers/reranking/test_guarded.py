from collections.abc import Sequence

import pytest

from memory_server.errors import InvalidAnswer, KeyRejected, ProviderError
from memory_server.ports.reranker import Reranker
from memory_server.providers.reranking.guarded import GuardedReranker


class Saying(Reranker):
    """Says what it is told to say."""

    name = "saying"
    candidates = 7
    weight = 0.25

    def __init__(self, said: Sequence[float | None] | Exception) -> None:
        self._said = said
        self.closed = False

    async def relevance(self, query: str, texts: Sequence[str]) -> Sequence[float | None]:
        if isinstance(self._said, Exception):
            raise self._said
        return self._said

    async def close(self) -> None:
        self.closed = True


async def test_what_is_said_passes_through() -> None:
    inner = Saying([0.5, None])
    guarded = GuardedReranker(inner)

    assert (guarded.name, guarded.candidates, guarded.weight) == ("saying", 7, 0.25)
    assert await guarded.relevance("q", ["a", "b"]) == [0.5, None]
    await guarded.close()
    assert inner.closed


async def test_a_known_failure_stays_what_it_is() -> None:
    with pytest.raises(KeyRejected, match="bad key"):
        await GuardedReranker(Saying(KeyRejected("bad key"))).relevance("q", ["a"])


async def test_a_fault_of_the_program_becomes_a_failure_that_shows_no_text_of_it() -> None:
    with pytest.raises(ProviderError, match=r"failed \(RuntimeError\)$"):
        await GuardedReranker(Saying(RuntimeError("secret"))).relevance("q", ["a"])


async def test_an_answer_for_other_than_all_texts_is_invalid() -> None:
    with pytest.raises(InvalidAnswer, match="1 of 2"):
        await GuardedReranker(Saying([0.5])).relevance("q", ["a", "b"])
