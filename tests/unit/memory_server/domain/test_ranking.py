from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.domain.chunk import Chunk, Source
from memory_server.domain.embedding import EmbeddingSpace
from memory_server.domain.ranking import LONG as LONG_TEXT
from memory_server.domain.ranking import (
    Legs,
    Ranked,
    Weights,
    asks_for_present,
    coverage,
    drop_near_duplicates,
    fuse,
    merge_sources,
    normalise_text,
    normalise_vector,
    prefer_recent,
    reorder,
)
from tests.unit.memory_server.domain.chunks import a_chunk, a_turn

SPACE = EmbeddingSpace(model="m", dimension=3, unrelated=0.2, same=0.8)


def ids(ranked: Sequence[Ranked] | Sequence[Chunk]) -> list[str]:
    return [one.id for one in ranked]


@pytest.mark.parametrize(
    ("cosine", "score"), [(-1.0, 0.0), (0.2, 0.0), (0.5, 0.5), (0.8, 1.0), (1.0, 1.0)]
)
def test_a_cosine_is_measured_between_unrelated_and_same(cosine: float, score: float) -> None:
    assert normalise_vector({"a": cosine}, SPACE)["a"] == pytest.approx(score)


def test_the_best_text_hit_scores_what_it_covers_of_the_query() -> None:
    assert normalise_text({"a": 8.0, "b": 2.0}, 0.5) == {"a": 0.5, "b": 0.125}


@pytest.mark.parametrize("hits", [{}, {"a": 0.0}])
def test_text_hits_without_any_score_count_nothing(hits: dict[str, float]) -> None:
    assert normalise_text(hits, 1.0) == dict.fromkeys(hits, 0.0)


@pytest.mark.parametrize(
    ("terms", "words", "share"),
    [(["a", "b", "a"], ["b", "c"], 0.5), ([], ["b"], 0.0), (["a"], ["a"], 1.0)],
)
def test_coverage_is_a_share_of_distinct_terms(
    terms: list[str], words: list[str], share: float
) -> None:
    assert coverage(terms, words) == share


def test_the_fused_score_is_the_weighted_sum() -> None:
    ranked = fuse(
        Legs(text={"both": 4.0, "words": 8.0}, vector={"both": 0.8, "meaning": 0.5}, space=SPACE)
    )

    assert ids(ranked) == ["both", "words", "meaning"]
    assert [one.score for one in ranked] == pytest.approx([0.4 + 0.3, 0.6, 0.2])


def test_the_weights_can_be_given() -> None:
    ranked = fuse(
        Legs(text={"words": 1.0}, vector={"meaning": 0.8}, space=SPACE),
        weights=Weights(vector=0.4, text=0.6),
    )

    assert ids(ranked) == ["words", "meaning"]


def test_a_single_leg_counts_alone() -> None:
    assert fuse(Legs(text={"a": 5.0}, covered=0.5))[0].score == 0.5
    assert fuse(Legs(vector={"a": 0.5}, space=SPACE))[0].score == pytest.approx(0.5)


def test_a_leg_that_found_nothing_still_counts() -> None:
    assert fuse(Legs(text={"a": 5.0}, vector={}, space=SPACE))[0].score == pytest.approx(0.6)


def test_scores_that_clipping_made_equal_keep_the_order_of_the_cosines() -> None:
    assert ids(fuse(Legs(vector={"a": 0.85, "b": 0.95, "c": -0.5, "d": 0.1}, space=SPACE))) == [
        "b",
        "a",
        "d",
        "c",
    ]


def test_equal_finds_are_ordered_by_id() -> None:
    assert ids(fuse(Legs(text={"b": 1.0, "c": 1.0, "a": 1.0}))) == ["a", "b", "c"]


cosines = st.dictionaries(st.text("abcd", min_size=1, max_size=2), st.floats(-1, 1))
bm25 = st.dictionaries(st.text("abcd", min_size=1, max_size=2), st.floats(0, 100))


@given(bm25, cosines, st.floats(0, 1))
def test_scores_lie_between_0_and_1_and_everything_found_is_ranked_once(
    text: dict[str, float], vector: dict[str, float], covered: float
) -> None:
    ranked = fuse(Legs(text=text, vector=vector, covered=covered, space=SPACE))

    assert sorted(ids(ranked)) == sorted(text.keys() | vector.keys())
    assert all(0 <= one.score <= 1 + 1e-9 for one in ranked)
    assert ranked == sorted(ranked, key=lambda one: -one.score)


@given(cosines, st.floats(-1, 1))
def test_a_cosine_scores_the_same_whatever_else_is_found(
    others: dict[str, float], cosine: float
) -> None:
    alone = fuse(Legs(vector={"mine": cosine}, space=SPACE))[0].score

    together = {
        one.id: one.score for one in fuse(Legs(vector={**others, "mine": cosine}, space=SPACE))
    }

    assert together["mine"] == alone


def test_sources_merge_by_score_with_ties_by_source_and_id() -> None:
    facts = [a_chunk(id="b", score=0.9), a_chunk(id="a", score=0.5)]
    episodes = [a_chunk(id="z", source=Source.EPISODIC, score=0.5)]

    assert ids(merge_sources([facts, episodes])) == ["b", "z", "a"]


def test_turns_that_were_not_ranked_come_first_in_their_order() -> None:
    turns = [a_turn("later", seq=2), a_turn("sooner", seq=1)]

    assert ids(merge_sources([[a_chunk()], turns])) == ["t2", "t1", "m1"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna lives in Oslo.", "Anna lives in Oslo."),
        ("Anna lives in Oslo.", " Anna  lives in\nOslo"),
        ("Anna lives in the old town of Oslo!", "Anna lives in old town of Oslo."),
        ("The user\u2019s car, a gift, is red", "user's car, gift, is red"),
    ],
)
def test_of_two_chunks_that_say_the_same_the_better_stays(one: str, other: str) -> None:
    chunks = [a_chunk(one, id="low", score=0.2), a_chunk(other, id="high", score=0.9)]

    assert ids(drop_near_duplicates(chunks)) == ["high"]


LONG = "the customer of the north plant asked for a refund of all the pumps we sold"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna lives in Oslo", "Anna lives in Bergen"),
        ("a gold customer", "a Gold customer"),
        (f"{LONG} in 2024", f"{LONG} in 2025"),
        (f"{LONG} and was paid", f"{LONG} and was not paid"),
        (f"{LONG}, we did", f"{LONG}, we didn't"),
        (LONG, f"nobody: {LONG}"),
    ],
)
def test_chunks_that_differ_in_what_matters_both_stay(one: str, other: str) -> None:
    assert len(drop_near_duplicates([a_chunk(one, id="a"), a_chunk(other, id="b")])) == 2


def test_an_apostrophe_may_be_written_either_way() -> None:
    chunks = [a_chunk(f"{LONG}, we didn't", id="a"), a_chunk(f"{LONG}, we didn\u2019t", id="b")]

    assert ids(drop_near_duplicates(chunks)) == ["a"]


def test_long_texts_repeat_each_other_only_where_they_are_equal() -> None:
    long = "lorem ipsum " * LONG_TEXT
    chunks = [a_chunk(long, id="a"), a_chunk(long, id="b"), a_chunk(f"{long}.", id="c")]

    assert ids(drop_near_duplicates(chunks)) == ["a", "c"]


def test_a_repeat_in_another_source_is_dropped_and_the_order_stays() -> None:
    chunks = [
        a_chunk("Something else", id="x", score=0.1),
        a_chunk(id="fact", score=0.4),
        a_chunk(id="episode", source=Source.EPISODIC, score=0.6),
    ]

    assert ids(drop_near_duplicates(chunks)) == ["x", "episode"]


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ({"procedure": "refund"}, {"procedure": "complaint"}, True),
        ({"event_time": {"start": "2026-01-01"}}, {"event_time": {"start": "2026-02-01"}}, True),
        ({"event_time": {"start": "2026-01-01"}}, {}, False),
        ({"title": "a run"}, {"title": "the run"}, False),
    ],
)
def test_one_text_about_two_things_stays_twice(
    one: dict[str, Any], other: dict[str, Any], both: bool
) -> None:
    chunks = [a_chunk(id="a", **one), a_chunk(id="b", **other)]

    assert (len(drop_near_duplicates(chunks)) == 2) is both


def test_turns_are_never_dropped() -> None:
    turns = [a_turn("ok", seq=1), a_turn("ok", seq=2)]

    assert drop_near_duplicates([*turns, a_chunk("ok")]) == [*turns, a_chunk("ok")]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Where does Anna live now?", True),
        ("her current job", True),
        ("the LATEST price", True),
        ("what does she do these days", True),
        ("¿dónde vive ahora?", True),
        ("¿Qué hace actualmente?", True),
        ("what do you know about snow", False),
        ("currents of the sea", False),
        ("where did she live in 2019", False),
    ],
)
def test_a_query_for_the_present_is_recognised(query: str, expected: bool) -> None:
    assert asks_for_present(query) is expected


def test_the_newer_of_two_equally_good_finds_comes_first() -> None:
    old = a_chunk("Anna lives in Bergen", id="a", age=timedelta(days=90))
    new = a_chunk("Anna lives in Oslo", id="b")

    ranked = prefer_recent([old, new])

    assert [(chunk.id, chunk.score) for chunk in ranked] == [("b", 0.5), ("a", pytest.approx(0.4))]


def test_recency_does_not_lift_what_is_far_less_relevant() -> None:
    chunks = [a_chunk(id="old", score=0.9, age=timedelta(days=9)), a_chunk(id="new", score=0.5)]

    assert ids(prefer_recent(chunks)) == ["old", "new"]


@pytest.mark.parametrize("number", [0, 1, 2])
def test_finds_of_one_moment_keep_their_scores(number: int) -> None:
    chunks = [a_chunk(id=str(index)) for index in range(number)]

    assert prefer_recent(chunks) == chunks


@pytest.mark.parametrize(
    ("weight", "expected"),
    [(0.0, ["a", "b", "c"]), (0.5, ["a", "c", "b"]), (1.0, ["c", "a", "b"])],
)
def test_a_reranker_counts_as_much_as_its_weight(weight: float, expected: list[str]) -> None:
    chunks = [a_chunk(id="a", score=0.9), a_chunk(id="b", score=0.5), a_chunk(id="c", score=0.4)]

    assert ids(reorder(chunks, [0.7, 0.6, 0.9], weight=weight)) == expected


def test_what_the_reranker_said_is_kept_beside_the_score() -> None:
    one, other = reorder([a_chunk(id="a"), a_chunk(id="b")], [None, 0.3], weight=1.0)

    assert (one.id, one.score, one.metadata["rerank_score"]) == ("b", 0.5, 0.3)
    assert (other.id, "rerank_score" in other.metadata) == ("a", False)


@pytest.mark.parametrize("relevance", [[0.4, 0.4], [None, None]])
def test_a_reranker_that_tells_nothing_apart_leaves_the_order(
    relevance: list[float | None],
) -> None:
    chunks = [a_chunk(id="b", score=0.5), a_chunk(id="a", score=0.5)]

    assert ids(reorder(chunks, relevance, weight=0.5)) == ["b", "a"]


@given(
    st.lists(st.tuples(st.none() | st.floats(0, 1), st.none() | st.floats(-9, 9)), max_size=8),
    st.floats(0, 1),
)
def test_reordering_loses_and_invents_nothing(
    found: list[tuple[float | None, float | None]], weight: float
) -> None:
    chunks = [a_chunk(id=str(n), score=score) for n, (score, _) in enumerate(found)]

    ordered = reorder(chunks, [said for _, said in found], weight=weight)

    assert sorted(ids(ordered)) == sorted(ids(chunks))
