import hashlib
import json
import re
from collections import Counter
from datetime import datetime
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from evaluation.datasets.errors import UnknownChoice
from evaluation.datasets.generator import generate
from evaluation.datasets.longmemeval import open_longmemeval
from evaluation.datasets.opening import open_dataset
from tests.evaluation.datasets.samples import written_lines

SEED = 7
CHARACTERS_A_TOKEN = 4.3


@cache
def small() -> list[Any]:
    return list(generate("small", 500, SEED))


def moment(text: str) -> datetime:
    return datetime.strptime(text[:10] + text[-6:], "%Y/%m/%d %H:%M")  # noqa: DTZ007 the schema has no zone


def contents(item: Any) -> list[str]:
    return [turn["content"] for session in item["haystack_sessions"] for turn in session]


def test_the_same_seed_gives_the_same_bytes_and_another_others() -> None:
    first, again, other = (
        [json.dumps(item) for item in generate("small", 20, seed)] for seed in (SEED, SEED, 8)
    )

    assert first == again
    assert not set(first) & set(other)


def test_items_stay_as_they_are_unless_the_grammar_has_a_new_version() -> None:
    """Change GRAMMAR_VERSION with this digest: figures by another grammar are not comparable."""
    text = "\n".join(json.dumps(item, sort_keys=True) for item in generate("small", 20, SEED))

    assert (
        hashlib.sha256(text.encode()).hexdigest()
        == "d118f8329c9ab9ba0ba91b2b45f6951ce9ce93358b9ddca006f49cbba0e1ef88"
    )


@pytest.mark.parametrize("variant", ["oracle", "small", "small_es", "s"])
def test_fewer_questions_are_the_first_of_more(variant: str) -> None:
    fewer = list(generate(variant, 2, SEED))

    assert fewer == list(islice(generate(variant, 600, SEED), 2))


def test_a_question_is_the_same_whatever_the_size_of_its_history() -> None:
    asked = ("question_id", "question_type", "question", "answer", "question_date")

    def questions(variant: str) -> list[Any]:
        return [[item[name] for name in asked] for item in generate(variant, 4, SEED)]

    assert questions("small") == questions("oracle") == questions("s")


def test_types_have_the_shares_of_the_real_file() -> None:
    assert Counter(item["question_type"] for item in small()) == {
        "single-session-user": 70,
        "single-session-assistant": 56,
        "single-session-preference": 30,
        "multi-session": 133,
        "knowledge-update": 78,
        "temporal-reasoning": 133,
    }
    assert sum(item["question_id"].endswith("_abs") for item in small()) == 30


@pytest.mark.parametrize("count", [20, 60, 120])
def test_a_first_part_has_nearly_these_shares(count: int) -> None:
    whole = Counter(item["question_type"] for item in small())
    part = Counter(item["question_type"] for item in small()[:count])

    assert all(abs(part[kind] - whole[kind] * count / 500) < 2 for kind in whole)


def test_every_item_is_called_synthetic_and_read_by_the_loader(tmp_path: Path) -> None:
    path = written_lines(tmp_path / "data.jsonl", small())
    dataset = open_dataset("longmemeval", path)

    assert all(item["synthetic"] is True for item in small())
    assert dataset.is_synthetic
    assert sum(len(questions) for _, questions in dataset.conversations()) == 500


def test_evidence_is_marked_where_it_was_said(tmp_path: Path) -> None:
    for item in small():
        by_name = dict(zip(item["haystack_session_ids"], item["haystack_sessions"], strict=True))
        assert item["answer_session_ids"]
        for name, session in by_name.items():
            marks = [turn.get("has_answer") for turn in session]
            if name in item["answer_session_ids"]:
                assert sorted(marks) == [False] * (len(session) - 1) + [True]
            else:
                assert set(marks) == {None}


def test_sessions_have_names_of_their_own_and_the_question_comes_last() -> None:
    for item in small():
        dates = [moment(date) for date in item["haystack_dates"]]

        assert len(set(item["haystack_session_ids"])) == len(dates) == 8
        assert dates == sorted(dates)
        assert dates[-1] < moment(item["question_date"])


def test_dates_name_the_day_of_the_week_in_english() -> None:
    assert all(
        f"{moment(item['question_date']):%w}"
        == str(
            ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"].index(item["question_date"][12:15])
        )
        for item in small()[:20]
    )


@pytest.mark.parametrize("variant", ["small", "small_es"])
def test_an_answer_said_in_words_stands_in_the_evidence_alone(variant: str) -> None:
    kinds = {"single-session-user", "knowledge-update", "single-session-assistant"}
    items = [
        item
        for item in generate(variant, 250, SEED)
        if item["question_type"] in kinds and not item["question_id"].endswith("_abs")
    ]

    for item in items:
        answer = item["answer"].lower()
        turns = [turn for session in item["haystack_sessions"] for turn in session]
        holding = [turn for turn in turns if answer in turn["content"].lower()]
        evidence = [turn for turn in turns if turn.get("has_answer")]

        assert evidence[-1] in holding
        # One word, such as a city, may be said of something else.
        if " " in answer:
            assert holding == [evidence[-1]]

    assert len(items) > 80


def test_an_update_says_another_value_later() -> None:
    updates = [
        item
        for item in small()
        if item["question_type"] == "knowledge-update" and "_abs" not in item["question_id"]
    ]
    for item in updates:
        earlier, later = (
            turn["content"]
            for session in item["haystack_sessions"]
            for turn in session
            if turn.get("has_answer")
        )
        assert item["answer"].lower() in later.lower()
        assert item["answer"] not in earlier.split()


def test_an_update_is_read_with_its_stale_turn(tmp_path: Path) -> None:
    path = written_lines(tmp_path / "data.jsonl", small())
    dataset = open_longmemeval(path, only=["knowledge-update"])

    for _, [question] in dataset.conversations():
        if not question.is_abstention:
            assert len(question.stale) == 1
            assert len(question.evidence - question.stale) == 1


def test_what_is_counted_is_told_as_often() -> None:
    counted = [item for item in small() if isinstance(item["answer"], int)]

    assert counted
    for item in counted:
        assert item["answer"] == len(item["answer_session_ids"])


def test_a_sum_is_that_of_its_parts() -> None:
    summed = [
        item
        for item in small()
        if item["question_type"] == "multi-session" and str(item["answer"]).startswith("$")
    ]

    assert summed
    for item in summed:
        told = [
            int(re.findall(r"\$(\d+)", turn["content"])[0])
            for session in item["haystack_sessions"]
            for turn in session
            if turn.get("has_answer")
        ]
        assert item["answer"] == f"${sum(told)}"


@pytest.mark.parametrize(
    ("variant", "count", "sessions", "tokens"),
    [("s", 4, (40, 50), (105_000, 120_000)), ("m", 1, (500, 500), (1_350_000, 1_650_000))],
)
def test_histories_are_as_long_as_the_real_ones(
    variant: str, count: int, sessions: tuple[int, int], tokens: tuple[int, int]
) -> None:
    for item in generate(variant, count, SEED):
        size = sum(map(len, contents(item))) / CHARACTERS_A_TOKEN

        assert sessions[0] <= len(item["haystack_sessions"]) <= sessions[1]
        assert tokens[0] <= size <= tokens[1]


def test_the_oracle_holds_evidence_alone_in_no_order() -> None:
    items = list(generate("oracle", 60, SEED))

    assert all(sorted(item["haystack_session_ids"]) == item["answer_session_ids"] for item in items)
    assert any(
        dates != sorted(dates, key=moment) for dates in (item["haystack_dates"] for item in items)
    )
    assert {len(item["answer_session_ids"]) for item in items} == {1, 2, 3, 4, 5}


def test_what_cannot_be_generated_is_refused_at_once() -> None:
    with pytest.raises(UnknownChoice, match="'xl'; there are oracle, small"):
        generate("xl", 1, SEED)
    with pytest.raises(UnknownChoice, match="questions is 0"):
        generate("s", 0, SEED)
