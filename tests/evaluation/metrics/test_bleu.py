import random
from collections.abc import Callable, Sequence

import pytest
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu  # type: ignore[import-untyped]
from sacrebleu.metrics.bleu import BLEU

from evaluation.metrics.bleu import (
    BLEU4_SIGNATURE,
    METHOD_1,
    bigram_precision,
    bleu,
    bleu1,
    bleu4,
    ngram_precision,
)
from evaluation.metrics.words import bare_words, treebank_words

Metric = Callable[[str, str], float]
GOLD, ANSWER = "bob likes pancakes", "bob likes pancakes, cakes, and mustard"
BARE = (bare_words(ANSWER), bare_words(GOLD))
MARKED = (treebank_words(ANSWER), treebank_words(GOLD))
SPACED = (ANSWER.split(), GOLD.split())


def test_the_worked_example_of_word_pairs_has_the_published_value() -> None:
    assert bigram_precision(ANSWER, GOLD) == 0.4


def test_the_worked_example_has_the_published_value_of_each_other_formula() -> None:
    assert bleu(*BARE, order=1) == 0.5
    assert bleu1(ANSWER, GOLD) == 0.375
    assert bleu(*BARE, order=2) == pytest.approx(0.447, abs=5e-4)
    assert bleu(*MARKED, order=2) == pytest.approx(0.327, abs=5e-4)
    assert bleu(*BARE, order=4, epsilon=METHOD_1) == pytest.approx(0.202, abs=5e-4)
    assert bleu(*MARKED, order=4, epsilon=METHOD_1) == pytest.approx(0.1375, abs=5e-5)
    assert bleu4(ANSWER, GOLD) == pytest.approx(0.206, abs=5e-4)
    assert ngram_precision(*SPACED, 2) == 0.2
    assert bleu(*SPACED, order=1) == pytest.approx(1 / 3)


@pytest.mark.parametrize("metric", [bleu1, bleu4, bigram_precision])
@pytest.mark.parametrize(("answer", "gold"), [("", "x"), ("x", ""), ("", "")])
def test_nothing_shared_is_zero(metric: Metric, answer: str, gold: str) -> None:
    assert metric(answer, gold) == 0.0


def test_bleu1_is_that_of_nltk_on_any_text() -> None:
    for answer, gold in texts():
        want, there = [list(treebank_words(gold))], list(treebank_words(answer))
        if not there:
            continue

        smooth = SmoothingFunction().method1
        oracle = sentence_bleu(want, there, (1, 0, 0, 0), smoothing_function=smooth)

        assert bleu1(answer, gold) == pytest.approx(float(oracle), abs=1e-12)


def test_smoothed_bleu_is_that_of_nltk_on_any_text() -> None:
    for answer, gold in texts():
        there, want = answer.split(), gold.split()
        if not there:
            continue

        smooth = SmoothingFunction().method1
        oracle = sentence_bleu([want], there, smoothing_function=smooth)

        value = bleu(there, want, order=4, epsilon=METHOD_1)
        assert value == pytest.approx(float(oracle), abs=1e-12)


def test_bleu4_is_that_of_sacrebleu_on_any_text() -> None:
    oracle = BLEU(effective_order=True)
    for answer, gold in texts():
        score = oracle.sentence_score(answer, [gold]).score

        assert bleu4(answer, gold) == pytest.approx(score / 100, abs=1e-12)
    assert str(oracle.get_signature()).startswith(BLEU4_SIGNATURE)


def texts() -> Sequence[tuple[str, str]]:
    """Pairs that share some words."""
    chance = random.Random(11)  # noqa: S311 - the same texts each time
    words = (
        "I can't it's 3,500.50 the dog, (a cat) \"quoted\" end. half-way ... don't & 5 -- to; "
        "x'y What?! e.g. May 7: 10:30 A a"
    ).split()
    return [
        (
            " ".join(chance.choices(words, k=chance.randint(0, 9))),
            " ".join(chance.choices(words, k=chance.randint(0, 9))),
        )
        for _ in range(2000)
    ]
