import random
import re
import string
from collections import Counter
from collections.abc import Callable
from statistics import fmean

import pytest
from nltk.stem import PorterStemmer  # type: ignore[import-untyped]

from evaluation.metrics.overlap import contained, f1, locomo_f1, mem0_f1, squad_f1

F1 = Callable[[str, str], float]
GOLD, ANSWER = "bob likes pancakes", "bob likes pancakes, cakes, and mustard"


def test_the_worked_example_has_the_published_values() -> None:
    assert mem0_f1(ANSWER, GOLD) == pytest.approx(2 / 3)
    assert squad_f1(ANSWER, GOLD) == pytest.approx(2 / 3)
    assert locomo_f1(ANSWER, GOLD) == 0.75
    assert locomo_f1(ANSWER, GOLD, "1") == 1.0
    assert f1(ANSWER.split(), GOLD.split()) == pytest.approx(4 / 9)


def test_a_list_is_split_at_commas_in_the_multi_hop_category_alone() -> None:
    gold, answer = "hiking, pottery", "she does pottery, swimming"

    assert locomo_f1(answer, gold, "1") == pytest.approx(0.25)
    assert locomo_f1(answer, gold, "4") == pytest.approx(2 / 6)


def test_a_remark_behind_a_semicolon_does_not_count_in_the_open_domain_category() -> None:
    assert locomo_f1("likely no", "Likely no; she likes cats", "3") == 1.0
    assert locomo_f1("likely no", "Likely no; she likes cats", "4") < 1.0


@pytest.mark.parametrize(
    ("answer", "right"),
    [("Not mentioned in the conversation", 1.0), ("No information available", 1.0), ("a cat", 0.0)],
)
def test_the_adversarial_category_wants_a_refusal(answer: str, right: float) -> None:
    assert locomo_f1(answer, "anything", "5") == right


def test_mem0_counts_a_word_once_and_squad_as_often_as_it_is_there() -> None:
    assert mem0_f1("no no", "no") == 1.0
    assert squad_f1("no no", "no") == pytest.approx(2 / 3)


def test_mem0_keeps_articles_and_apostrophes() -> None:
    assert mem0_f1("the dog's", "dogs") == 0.0
    assert squad_f1("the dog's", "dogs") == 1.0


@pytest.mark.parametrize("metric", [locomo_f1, squad_f1, mem0_f1])
@pytest.mark.parametrize(("answer", "gold"), [("", "x"), ("x", ""), ("", "")])
def test_nothing_shared_is_zero(metric: F1, answer: str, gold: str) -> None:
    assert metric(answer, gold) == 0.0


@pytest.mark.parametrize(
    ("text", "gold", "value"),
    [
        ("It was on the 7 May, 2023.", "7 May 2023", 1.0),
        ("She went to a party", "art", 0.0),
        ("May 7", "7 May", 0.0),
        ("anything", "", 0.0),
        ("anything", "The", 0.0),
    ],
)
def test_gold_is_contained_where_its_words_stand_in_order(
    text: str, gold: str, value: float
) -> None:
    assert contained(text, gold) == value


def test_locomo_f1_is_that_of_the_official_evaluation_on_any_text() -> None:
    chance = random.Random(3)  # noqa: S311 - the same texts each time
    words = (
        "cats, running; The and a Ponies it's happily 2023 May, went-there! hopping cat run".split()
    )
    for _ in range(2000):
        answer, gold = (" ".join(chance.choices(words, k=chance.randint(0, 7))) for _ in range(2))
        category = chance.choice("1234")

        assert locomo_f1(answer, gold, category) == pytest.approx(official(answer, gold, category))


def official(answer: str, gold: str, category: str) -> float:
    """What the published evaluation does, with NLTK's stemmer."""
    stemmer = PorterStemmer()

    def normal(text: str) -> list[str]:
        text = text.replace(",", "").lower()
        text = "".join(letter for letter in text if letter not in string.punctuation)
        return [stemmer.stem(word) for word in re.sub(r"\b(a|an|the|and)\b", " ", text).split()]

    def single(one: str, other: str) -> float:
        there, want = normal(one), normal(other)
        same = (Counter(there) & Counter(want)).total()
        if same == 0:
            return 0.0
        precision, recall = same / len(there), same / len(want)
        return 2 * precision * recall / (precision + recall)

    if category == "3":
        gold = gold.split(";")[0].strip()
    if category != "1":
        return single(answer, gold)
    answers = [part.strip() for part in answer.split(",")]
    return fmean(max(single(one, part.strip()) for one in answers) for part in gold.split(","))
