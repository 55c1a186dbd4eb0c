import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evaluation.datasets.generator import grammar as module
from evaluation.datasets.generator.grammar import Grammar, read_grammar

LANGUAGES = sorted(path.name for path in Path(module.__file__).with_name("grammar").iterdir())


@pytest.fixture(params=LANGUAGES)
def grammar(request: pytest.FixtureRequest) -> Grammar:
    return read_grammar(request.param)


def test_every_key_is_one_thing(grammar: Grammar) -> None:
    entries: list[Any] = [
        *grammar.attributes,
        *grammar.tallies,
        *grammar.events,
        *grammar.listings,
        *grammar.tastes,
    ]

    assert not [key for key, times in Counter(one.key for one in entries).items() if times > 1]
    assert all(one.topic in grammar.topics for one in entries)


def test_chat_about_something_has_two_things_to_speak_of(grammar: Grammar) -> None:
    entries: list[Any] = [*grammar.attributes, *grammar.tallies, *grammar.events, *grammar.tastes]

    assert all(len(set(one.about)) >= 2 for one in entries)
    assert all(len(set(topic.things)) >= 12 for topic in grammar.topics.values())


def test_whatever_is_said_of_an_attribute_says_its_value(grammar: Grammar) -> None:
    for attribute in grammar.attributes:
        for sentence in (*attribute.said, *attribute.changed, *attribute.others):
            assert sentence.count("{value}") == 1, sentence
        for question in (*attribute.asked, attribute.absent_asked):
            assert "{" not in question, question


def test_an_attribute_is_said_with_hardly_a_word_of_its_question(grammar: Grammar) -> None:
    def words(text: str) -> set[str]:
        return {word for word in re.findall(r"\w+", text.lower()) if len(word) > 3}

    for attribute in grammar.attributes:
        asked = set.union(*map(words, attribute.asked))
        assert any(len(words(said) & asked) <= 1 for said in attribute.said), attribute.key


def test_an_event_is_told_with_its_day(grammar: Grammar) -> None:
    for event in grammar.events:
        assert all(said.count("{when}") == 1 for said in (*event.said, *event.others)), event.key
        assert "{" not in event.noun + event.did


def test_a_tally_either_counts_or_sums(grammar: Grammar) -> None:
    for tally in grammar.tallies:
        slot = "{item}" if tally.counts else "{amount}"
        assert bool(tally.counts) != bool(tally.sums), tally.key
        assert all(slot in said for said in (*tally.said, *tally.others)), tally.key


def test_a_taste_has_a_name_that_nothing_else_has(grammar: Grammar) -> None:
    for taste in grammar.tastes:
        assert "{coined}" in taste.wants
        assert all("{coined}" in said for said in taste.said)
