import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.domain.budget import content_cost, pack
from tests.unit.memory_server.domain.chunks import a_chunk


@pytest.mark.parametrize("max_tokens", [1, 499, 500])
def test_a_budget_up_to_the_reserve_holds_nothing(max_tokens: int) -> None:
    packed = pack([a_chunk("hi", id="a"), a_chunk("", id="empty")], max_tokens=max_tokens)

    assert packed.kept == []
    assert packed.dropped == ["a", "empty"]


def test_a_chunk_that_does_not_fit_is_passed_over_for_the_next() -> None:
    chunks = [a_chunk("one two", id="a"), a_chunk("x " * 50, id="long"), a_chunk("three", id="b")]

    packed = pack(chunks, max_tokens=503)

    assert [chunk.id for chunk in packed.kept] == ["a", "b"]
    assert packed.dropped == ["long"]


def test_the_last_free_token_is_used() -> None:
    assert pack([a_chunk("one two three")], max_tokens=503).kept


def test_the_cost_and_the_reserve_can_be_given() -> None:
    packed = pack([a_chunk(id="a"), a_chunk(id="b")], max_tokens=25, reserve=5, cost=lambda _: 20)

    assert packed.dropped == ["b"]


@given(st.lists(st.text("ab ", max_size=40)), st.integers(0, 600))
def test_every_chunk_is_kept_whole_or_dropped_and_the_budget_holds(
    texts: list[str], max_tokens: int
) -> None:
    chunks = [a_chunk(text, id=str(number)) for number, text in enumerate(texts)]

    packed = pack(chunks, max_tokens=max_tokens)

    assert all(chunk in chunks for chunk in packed.kept)
    assert len(packed.kept) + len(packed.dropped) == len(chunks)
    assert sum(map(content_cost, packed.kept)) <= max(max_tokens - 500, 0)
