import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.conversations import Conversation, Question
from evaluation.datasets.errors import InvalidDataset, UnknownChoice
from evaluation.datasets.locomo import open_locomo, resolve_evidence
from tests.evaluation.datasets.samples import a_locomo_turn, a_sample, written


def opened(tmp_path: Path, *samples: Any) -> tuple[Conversation, Sequence[Question]]:
    [one] = open_locomo(written(tmp_path / "data.json", *samples)).conversations()
    return one


def a_question(**changes: Any) -> Any:
    return {"question": "Why?", "answer": "so", "evidence": ["D1:1"], "category": 4} | changes


def test_turns_are_those_of_the_sessions_in_order_with_their_dates(tmp_path: Path) -> None:
    conversation, _ = opened(tmp_path, a_sample())

    assert [(t.key, t.session, t.speaker, t.role) for t in conversation.turns] == [
        ("D1:1", "session_1", "Ana", "user"),
        ("D1:2", "session_1", "Ben", "assistant"),
        ("D2:1", "session_2", "Ana", "user"),
        ("D2:2", "session_2", "Ben", "assistant"),
    ]
    assert [t.said_at for t in conversation.turns][1:3] == [
        datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
        datetime(2023, 5, 9, 0, 5, tzinfo=UTC),
    ]


def test_tenth_session_comes_after_the_ninth(tmp_path: Path) -> None:
    later: dict[str, Any] = {}
    for number in (10, 9):
        later[f"session_{number}"] = [a_locomo_turn(f"D{number}:1")]
        later[f"session_{number}_date_time"] = "1:00 pm on 1 June, 2023"
    conversation, _ = opened(tmp_path, a_sample(**later))

    assert [turn.key for turn in conversation.turns][-2:] == ["D9:1", "D10:1"]


def test_a_picture_is_its_caption_and_never_what_its_crawler_looked_for(tmp_path: Path) -> None:
    conversation, _ = opened(tmp_path, a_sample())

    assert conversation.turns[2].text == "Two hives [image: two boxes]"
    assert "langstroth" not in json.dumps([turn.text for turn in conversation.turns])


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("12:00 am on 1 January, 2024", datetime(2024, 1, 1, 0, 0, tzinfo=UTC)),
        ("12:30 pm on 29 February, 2024", datetime(2024, 2, 29, 12, 30, tzinfo=UTC)),
        ("11:59 PM on 31 December 2023", datetime(2023, 12, 31, 23, 59, tzinfo=UTC)),
        ("1:05 am on 8 May, 2023", datetime(2023, 5, 8, 1, 5, tzinfo=UTC)),
    ],
)
def test_a_day_has_two_times_twelve_hours(tmp_path: Path, text: str, moment: datetime) -> None:
    conversation, _ = opened(tmp_path, a_sample(session_1_date_time=text))

    assert conversation.turns[0].said_at == moment


@pytest.mark.parametrize(
    "text", ["8 May 2023", "1:00 pm on 31 June, 2023", "1:00 pm on 8 Mai, 2023"]
)
def test_a_date_that_is_none_is_refused_with_its_place(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidDataset, match=rf"conv-26: session_1_date_time: '{text}' is no date"):
        opened(tmp_path, a_sample(session_1_date_time=text))


@pytest.mark.parametrize(
    ("given_evidence", "found", "nowhere"),
    [
        (["D1:1", "D2:1"], ["D1:1", "D2:1"], []),
        (["D1:1; D2:1"], ["D1:1", "D2:1"], []),
        (["D1:1 D1:2 D2:1 D2:2"], ["D1:1", "D1:2", "D2:1", "D2:2"], []),
        (["D:2:01"], ["D2:1"], []),
        (["D2:1", "D2:1"], ["D2:1"], []),
        (["D"], [], ["D"]),
        (["D9:9", "D1:1"], ["D1:1"], ["D9:9"]),
        ([], [], []),
    ],
)
def test_evidence_is_mended_and_what_names_no_turn_is_told(
    given_evidence: Sequence[str], found: Sequence[str], nowhere: Sequence[str]
) -> None:
    turns = {"D1:1", "D1:2", "D2:1", "D2:2"}

    assert resolve_evidence(given_evidence, turns) == (found, nowhere)


@given(
    turns=st.sets(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=8),
    joint=st.sampled_from([" ", "; ", ",", "  "]),
    zeros=st.integers(0, 2),
)
def test_evidence_joined_in_any_way_is_found_whole(
    turns: set[tuple[int, int]], joint: str, zeros: int
) -> None:
    names = [f"D{session}:{turn}" for session, turn in sorted(turns)]
    text = joint.join(f"D{session}:{'0' * zeros}{turn}" for session, turn in sorted(turns))

    assert resolve_evidence([text], set(names)) == (names, [])


def test_questions_of_the_same_words_have_keys_of_their_own(tmp_path: Path) -> None:
    _, questions = opened(tmp_path, a_sample(qa=[a_question(), a_question(answer="because")]))

    assert [question.key for question in questions] == ["conv-26/q0", "conv-26/q1"]


def test_a_number_as_answer_is_text(tmp_path: Path) -> None:
    _, [question] = opened(tmp_path, a_sample(qa=[a_question(answer=2022, category=2)]))

    assert question.answers == ("2022",)
    assert question.category == "2"


def test_an_adversarial_question_has_no_answer_that_it_does_not_give(tmp_path: Path) -> None:
    asked = {"question": "Why?", "adversarial_answer": "so", "evidence": ["D1:1"], "category": 5}
    _, [bare, answered] = opened(tmp_path, a_sample(qa=[asked, asked | {"answer": "no"}]))

    assert (bare.answers, bare.is_adversarial, bare.is_abstention) == ((), True, True)
    assert (answered.answers, answered.is_adversarial, answered.is_abstention) == (
        ("no",),
        True,
        False,
    )


def test_evidence_names_its_sessions(tmp_path: Path) -> None:
    _, [question] = opened(tmp_path, a_sample(qa=[a_question(evidence=["D1:1", "D2:2"])]))

    assert question.evidence == {"D1:1", "D2:2"}
    assert question.sessions == {"session_1", "session_2"}


def test_notes_count_questions_without_evidence_and_name_what_is_left_out(tmp_path: Path) -> None:
    qa = [
        a_question(evidence=[]),
        a_question(evidence=["D9:9"]),
        a_question(evidence=[], category=5),
    ]
    notes = open_locomo(written(tmp_path / "data.json", a_sample(qa=qa))).notes

    assert any("CC BY-NC" in note for note in notes)
    assert any(note.startswith("2 questions name no evidence") for note in notes)
    assert any("conv-26/q1 D9:9" in note for note in notes)


@pytest.mark.parametrize("only", [["30"], ["conv-30"]])
def test_conversations_are_chosen_by_number_or_name(tmp_path: Path, only: list[str]) -> None:
    path = written(tmp_path / "data.json", a_sample(), a_sample("conv-30"), a_sample("conv-41"))

    assert [c.key for c, _ in open_locomo(path, only=only).conversations()] == ["conv-30"]
    assert [c.key for c, _ in open_locomo(path, limit=2).conversations()] == ["conv-26", "conv-30"]


def test_a_conversation_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    path = written(tmp_path / "data.json", a_sample(), a_sample("conv-30"))

    with pytest.raises(UnknownChoice, match="no conversation conv-99; it has conv-26, conv-30"):
        open_locomo(path, only=["99"])


def test_digest_is_of_the_bytes_and_the_choice(tmp_path: Path) -> None:
    path = written(tmp_path / "data.json", a_sample(), a_sample("conv-30"))
    copy = written(tmp_path / "copy.json", a_sample(), a_sample("conv-30"))
    other = written(tmp_path / "other.json", a_sample())

    digests = [
        open_locomo(path).digest,
        open_locomo(path, only=["26"]).digest,
        open_locomo(path, limit=1).digest,
        open_locomo(other).digest,
    ]

    assert len(set(digests)) == len(digests)
    assert open_locomo(copy).digest == digests[0]
    assert open_locomo(path, only=["conv-26"]).digest == digests[1]


def an_entry(**changes: Any) -> Any:
    return {
        "question_id": "locomo_0_qa0",
        "question": "What does Ana keep?",
        "correct_answer": "honey bees",
        "correct_evidence": ["D2:1"],
    } | changes


def test_an_audit_stands_in_for_answer_and_evidence(tmp_path: Path) -> None:
    path = written(tmp_path / "data.json", a_sample())
    audited = open_locomo(path, audit=written(tmp_path / "errors.json", an_entry()))

    [(_, [question])] = audited.conversations()

    assert question.answers == ("honey bees",)
    assert question.evidence == {"D2:1"}
    assert audited.digest != open_locomo(path).digest
    assert any("1 questions with answer and evidence as corrected" in n for n in audited.notes)


def test_an_audit_of_other_questions_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "data.json", a_sample())
    audit = written(tmp_path / "errors.json", an_entry(question="What does Ben keep?"))

    with pytest.raises(InvalidDataset, match="conv-26/q0 asks 'What does Ben keep"):
        list(open_locomo(path, audit=audit).conversations())


def test_an_audit_that_is_none_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "data.json", a_sample())

    with pytest.raises(InvalidDataset, match="entry 1: question_id is 'x' and should be such as"):
        open_locomo(path, audit=written(tmp_path / "errors.json", an_entry(question_id="x")))


@pytest.mark.parametrize(
    ("sample", "reason"),
    [
        ({"sample_id": "x"}, "conversation 1: conversation is missing; qa is missing"),
        (a_sample(speaker_b="Cid"), "D1:2: speaker 'Ben' is neither"),
        (a_sample(session_2=[a_locomo_turn("D1:1")]), "D1:1: another turn has this dia_id"),
        (a_sample(session_1=[{"speaker": "Ana"}]), r"session_1: turns\[0\].dia_id is missing"),
        (a_sample(session_1_date_time=None), "date_time should be text, is null"),
        (
            a_sample(qa=[{"question": 1, "category": 4}]),
            r"qa\[0\].question should be text, is a nu",
        ),
    ],
)
def test_what_is_not_in_the_schema_is_refused_with_its_place(
    tmp_path: Path, sample: Any, reason: str
) -> None:
    with pytest.raises(InvalidDataset, match=reason):
        open_locomo(written(tmp_path / "data.json", sample))


def test_a_conversation_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidDataset, match="conv-26 is there twice"):
        open_locomo(written(tmp_path / "data.json", a_sample(), a_sample()))
