"""Finds of the index and of what was written lately become one answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.ports.search import Hit
from memory_server.search.atlas.merging import is_settled, merged, ordered, scale, scaled

ids = st.sampled_from([f"m{number}" for number in range(8)])
scores = st.sampled_from([0.0, 0.25, 0.5, 0.5, 1.0])
hits = st.dictionaries(ids, scores).map(lambda of: ordered([Hit(*one) for one in of.items()]))


@given(hits, hits, st.frozensets(ids), st.integers(0, 9))
def test_the_best_of_both_come_in_the_order_of_the_port(
    found: list[Hit], recent: list[Hit], removed: frozenset[str], limit: int
) -> None:
    hidden = removed | {hit.id for hit in recent}

    answer = merged(found, recent, hidden=hidden, limit=limit)

    everything = {hit.id: hit for hit in found if hit.id not in hidden}
    everything |= {hit.id: hit for hit in recent}
    assert answer == ordered(list(everything.values()))[:limit]
    assert len({hit.id for hit in answer}) == len(answer)


@given(hits, hits)
def test_what_the_index_found_of_a_document_written_lately_does_not_count(
    found: list[Hit], recent: list[Hit]
) -> None:
    hidden = {hit.id for hit in recent}

    answer = merged(found, recent, hidden=hidden, limit=99)

    assert [hit for hit in answer if hit.id in hidden] == recent


def test_documents_in_both_tell_the_scale() -> None:
    found = [Hit("a", 9.0), Hit("b", 4.0), Hit("c", 2.0)]
    recent = [Hit("b", 2.0), Hit("c", 1.0), Hit("new", 0.5)]

    assert scale(found, recent, covered=0.1) == 2.0


@pytest.mark.parametrize(("covered", "best"), [(1.0, 9.0), (3.0, 9.0), (0.5, 4.5)])
def test_otherwise_the_best_of_both_are_alike_as_far_as_they_hold_the_words(
    covered: float, best: float
) -> None:
    found, recent = [Hit("a", 9.0)], [Hit("new", 1e-6), Hit("other", 5e-7)]

    (first, second) = scaled(recent, scale(found, recent, covered=covered))

    assert first.score == pytest.approx(best)
    assert second.score == pytest.approx(best / 2)


@pytest.mark.parametrize(("found", "recent"), [([], [Hit("a", 1.0)]), ([Hit("a", 1.0)], [])])
def test_one_answer_alone_keeps_its_scale(found: list[Hit], recent: list[Hit]) -> None:
    assert scale(found, recent, covered=0.5) == 1.0


@pytest.mark.parametrize(
    ("scores_", "wanted", "expected"),
    [
        ([0.9, 0.5], 1, True),
        ([0.9, 0.9], 1, False),
        ([0.9], 1, False),
        ([0.9, 0.9, 0.1], 2, True),
        ([], 1, False),
    ],
)
def test_a_round_is_enough_when_no_tie_crosses_the_border(
    scores_: list[float], wanted: int, expected: bool
) -> None:
    assert is_settled(scores_, wanted) is expected
