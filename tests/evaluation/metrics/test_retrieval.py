import math
import random
from collections.abc import Iterator, Sequence

import ir_measures
import numpy as np
import pytest
from ir_measures import RR, R, Success, nDCG

from evaluation.metrics.retrieval import (
    first_places,
    hit,
    ndcg,
    ndcg_lme,
    recall,
    recall_all,
    reciprocal_rank,
)

CUTOFFS = (1, 3, 5, 10)


def singles(*units: str) -> list[tuple[str]]:
    return [(unit,) for unit in units]


def test_recall_hit_and_recall_all_tell_some_from_all() -> None:
    ranking, gold = singles("x", "a", "y", "b"), {"a", "b"}

    assert [recall(ranking, gold, k) for k in (1, 2, 4)] == [0.0, 0.5, 1.0]
    assert [hit(ranking, gold, k) for k in (1, 2, 4)] == [0.0, 1.0, 1.0]
    assert [recall_all(ranking, gold, k) for k in (1, 2, 4)] == [0.0, 0.0, 1.0]
    assert reciprocal_rank(ranking, gold) == 0.5


def test_a_block_brings_all_its_turns() -> None:
    ranking, gold = [("x", "a"), ("b", "c")], {"a", "b", "c"}

    assert recall(ranking, gold, 1) == pytest.approx(1 / 3)
    assert recall_all(ranking, gold, 2) == 1.0


def test_gold_that_one_block_brings_together_is_a_perfect_order() -> None:
    assert ndcg([("a", "b"), ("x",)], {"a", "b"}, 5) == 1.0
    assert ndcg([("x",), ("a", "b")], {"a", "b"}, 5) == pytest.approx(1 / math.log2(3))


def test_an_item_that_brings_what_was_there_gains_nothing() -> None:
    assert ndcg([("a",), ("a",), ("b",)], {"a", "b"}, 5) == pytest.approx(
        1.5 / (1 + 1 / math.log2(3))
    )


def test_the_discount_of_longmemeval_leaves_the_second_place_undiscounted() -> None:
    assert ndcg_lme(singles("x", "a"), {"a"}, 5) == 1.0
    assert ndcg(singles("x", "a"), {"a"}, 5) == pytest.approx(0.6309, abs=1e-4)


def test_sessions_are_counted_by_their_first_place() -> None:
    assert first_places([("s1",), ("s2", "s1"), ("s1",), ("s3",)]) == singles("s1", "s2", "s3")


def test_nothing_is_measured_without_gold() -> None:
    with pytest.raises(ValueError, match="without gold"):
        recall(singles("a"), set(), 5)


def test_values_are_those_of_ir_measures_on_any_ranking() -> None:
    measures = (
        [R @ k for k in CUTOFFS] + [Success @ k for k in CUTOFFS] + [nDCG @ k for k in CUTOFFS]
    )
    asked = {f"q{n}": case for n, case in enumerate(cases())}
    qrels = {key: dict.fromkeys(gold, 1) for key, (_, gold) in asked.items()}
    run = {
        key: {unit: -float(rank) for rank, unit in enumerate(ranking)}
        for key, (ranking, _) in asked.items()
    }
    oracle = {
        (value.query_id, value.measure): value.value
        for value in ir_measures.iter_calc([*measures, RR], qrels, run)
    }
    for key, (ranking, gold) in asked.items():
        items = singles(*ranking)

        assert reciprocal_rank(items, gold) == pytest.approx(oracle[key, RR])
        for k in CUTOFFS:
            assert recall(items, gold, k) == pytest.approx(oracle[key, R @ k])
            assert hit(items, gold, k) == pytest.approx(oracle[key, Success @ k])
            assert ndcg(items, gold, k) == pytest.approx(oracle[key, nDCG @ k])


def test_the_gain_of_longmemeval_is_that_of_its_code_on_any_ranking() -> None:
    for ranking, gold in cases():
        corpus = sorted({*ranking, *gold})
        for k in CUTOFFS:
            expected = lme_gain([unit in gold for unit in ranking], k) / lme_gain(
                sorted((unit in gold for unit in corpus), reverse=True), k
            )

            assert ndcg_lme(singles(*ranking), gold, k) == pytest.approx(expected)


def test_the_first_sessions_are_those_of_a_k_enlarged_until_k_are_covered() -> None:
    for ranking, gold in cases(repeated=True):
        for k in CUTOFFS:
            wide = k
            while wide <= len(ranking) and len(set(ranking[:wide])) < k:
                wide += 1

            value = recall_all(first_places(singles(*ranking)), gold, k)

            assert value == float(gold <= set(ranking[:wide]))


def lme_gain(relevant: Sequence[bool], k: int) -> float:
    gains = np.asarray(relevant, dtype=float)[:k]
    if not gains.size:
        return 0.0
    return float(gains[0] + np.sum(gains[1:] / np.log2(np.arange(2, gains.size + 1))))


def cases(*, repeated: bool = False) -> Iterator[tuple[list[str], set[str]]]:
    chance = random.Random(13)  # noqa: S311 - the same texts each time
    units = [f"u{n}" for n in range(15)]
    for _ in range(150):
        length = chance.randint(1, 12)
        ranking = (
            chance.choices(units[:6], k=length) if repeated else chance.sample(units, k=length)
        )
        yield ranking, set(chance.sample(units, k=chance.randint(1, 5)))
