from datetime import UTC, datetime

import pytest

from evaluation.readers.extractive import ExtractiveReader, extract
from evaluation.readers.reader import NOT_MENTIONED
from evaluation.records import FoundItem

SAID = datetime(2023, 3, 15, 13, 56, tzinfo=UTC)


def found(*contents: str) -> list[FoundItem]:
    return [
        FoundItem(id=str(n), source="stm", content=content, score=None, tokens=9, at=SAID)
        for n, content in enumerate(contents)
    ]


@pytest.mark.parametrize(
    ("question", "content", "answer"),
    [
        ("When did Ann adopt the dog?", "Ann: I adopted a dog yesterday!", "14 March 2023"),
        ("When did Ann adopt the dog?", "Ann: I adopted a dog, so sweet!", "15 March 2023"),
        (
            "How long has Ann played the cello?",
            "Ann: I've played cello for six years.",
            "six years",
        ),
        ("How many cats does Ann have?", "Ann: I have two sons and three cats.", "three"),
        ("How many times did Ann climb it?", "Ann: I climbed it twice.", "twice"),
        ("Who did Ann visit?", "Ann: I visited my grandmother.", "grandmother"),
        ("Who did Ann visit?", "Ann: On Monday I visited Theo.", "Theo"),
        ("Where did Ann hike?", "Ann: We hiked in Patagonia.", "Patagonia"),
        ("Why did Ann quit?", "Ann: I quit because the pay was low.", "the pay was low"),
        ("Which book did Ann finish?", 'Ann: I finished "Dune" at last.', "Dune"),
        ("What does Ann collect?", "Ann: I collect vintage postcards.", "vintage postcards"),
        ("Does Ann like tea?", "Ann: I like tea.", "Yes"),
    ],
)
def test_an_answer_is_of_the_kind_that_is_asked_for(
    question: str, content: str, answer: str
) -> None:
    assert extract(question, found(content, "Ben: The weather is bad.")) == answer


def test_the_sentence_that_fits_best_answers_not_the_first_item() -> None:
    items = found("Ann: I baked bread. It was fun.", "Ann: I collect stamps from Peru.")

    assert extract("What does Ann collect?", items) == "stamps from Peru"


def test_the_one_asked_about_goes_before_another_who_says_the_same() -> None:
    items = found("Ben: I collect coins.", "Ann: I collect stamps.")

    assert extract("What does Ann collect?", items) == "stamps"


def test_who_asks_of_themselves_is_answered_by_what_they_said() -> None:
    items = found("assistant: Many people collect coins.", "user: I collect stamps.")

    assert extract("What do I collect?", items) == "stamps"
    assert extract("What did you say that people collect?", items) != "stamps"


def test_several_things_are_taken_from_several_items() -> None:
    items = found("Ann: I play the cello.", "Ann: I play the flute too.", "Ann: Hello there!")

    assert extract("What instruments does Ann play?", items) == "cello, flute"


@pytest.mark.parametrize("items", [found(), found("Ann: The weather is bad.")])
def test_nothing_that_fits_is_not_mentioned(items: list[FoundItem]) -> None:
    assert extract("What does Ann collect?", items) == NOT_MENTIONED


async def test_the_reader_costs_no_tokens_and_names_its_rules() -> None:
    reader = ExtractiveReader()

    reading = await reader.read("Does Ann like tea?", found("Ann: I like tea."), asked_at=None)

    assert (reading.answer, reading.tokens_in, reading.tokens_out) == ("Yes", 0, 0)
    assert (reader.name, reader.prompt) == ("extractive", "")
    assert reader.digest.startswith("extractive-")
