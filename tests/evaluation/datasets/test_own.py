import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.datasets.errors import InvalidDataset, UnknownChoice
from evaluation.datasets.own import MOST_SHOWN, open_own
from evaluation.datasets.own_lines import ConversationLine, OwnSession, OwnTurn, QuestionLine
from tests.evaluation.datasets.samples import (
    an_item,
    an_own_conversation,
    an_own_question,
    written,
    written_lines,
)


def refused(tmp_path: Path, *lines: Any) -> str:
    """Return what is said of lines that are wrong, without the directory."""
    path = written_lines(tmp_path / "own.jsonl", lines)
    with pytest.raises(InvalidDataset) as raised:
        open_own(path)
    return str(raised.value).replace(f"{tmp_path}/", "")


def test_a_conversation_is_read_with_its_questions(tmp_path: Path) -> None:
    path = written_lines(tmp_path / "own.jsonl", [an_own_question(), an_own_conversation()])

    [(conversation, [question])] = open_own(path).conversations()

    assert [(t.key, t.session, t.speaker, t.role) for t in conversation.turns] == [
        ("t1", "monday", "Ana", "user"),
        ("monday:2", "monday", "assistant", "assistant"),
        ("2:1", "2", "user", "user"),
    ]
    assert [t.said_at for t in conversation.turns] == [
        datetime(2026, 1, 5, 9, tzinfo=UTC),
        datetime(2026, 1, 5, 9, tzinfo=UTC),
        None,
    ]
    assert (question.key, question.category, question.answers) == ("ana/q1", "own", ["Porto"])
    assert question.evidence == {"2:1"}
    assert question.sessions == {"2"}


def test_a_question_may_say_all_that_a_measure_reads(tmp_path: Path) -> None:
    asked = an_own_question(
        id="q-7",
        category="moves",
        rubric="Says that she moved",
        stale=["t1"],
        sessions=["monday"],
        abstention=True,
        asked_at="2026-02-01T10:00:00+02:00",
    )
    path = written_lines(tmp_path / "own.jsonl", [an_own_conversation(), asked])

    [(_, [question])] = open_own(path).conversations()

    assert (question.key, question.category) == ("q-7", "moves")
    assert question.rubric == "Says that she moved"
    assert question.stale == {"t1"}
    assert question.sessions == {"2", "monday"}
    assert question.is_abstention
    assert question.asked_at == datetime(2026, 2, 1, 8, tzinfo=UTC)


def test_a_directory_is_read_file_by_file(tmp_path: Path) -> None:
    written_lines(tmp_path / "b.jsonl", [an_own_question(), an_own_conversation("ben")])
    written_lines(tmp_path / "a.jsonl", [an_own_conversation()])
    (tmp_path / "notes.txt").write_text("not read")

    read = list(open_own(tmp_path).conversations())

    assert [(c.key, len(questions)) for c, questions in read] == [("ana", 1), ("ben", 0)]


def test_conversations_are_chosen_by_name_and_number(tmp_path: Path) -> None:
    path = written_lines(
        tmp_path / "own.jsonl", [an_own_conversation("ana"), an_own_conversation("ben")]
    )

    assert [c.key for c, _ in open_own(path, only=["ben"]).conversations()] == ["ben"]
    assert [c.key for c, _ in open_own(path, limit=1).conversations()] == ["ana"]
    assert open_own(path, only=["ben"]).digest != open_own(path).digest
    with pytest.raises(UnknownChoice, match="no conversation eve"):
        open_own(path, only=["eve"])


def test_blank_lines_and_a_mark_of_utf_8_are_no_fault(tmp_path: Path) -> None:
    path = written_lines(tmp_path / "own.jsonl", [an_own_conversation()])
    path.write_text("\ufeff" + path.read_text() + "\n\n")

    assert len(list(open_own(path).conversations())) == 1


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (an_own_conversation(sessions=[]), "own.jsonl:2: sessions should not be empty"),
        (
            an_own_conversation(sessions=[{"turns": [{"role": "bot", "text": "x"}]}]),
            "own.jsonl:2: sessions[0].turns[0].role is not right: input should be 'user' or",
        ),
        (
            an_own_conversation(sessions=[{"turns": [{"role": "user", "txt": "x"}]}]),
            "own.jsonl:2: sessions[0].turns[0].text is missing; "
            "sessions[0].turns[0].txt is no field of it",
        ),
        (an_own_question(answers="Porto"), "own.jsonl:2: answers should be a list, is text"),
        (an_own_question(asked_at="soon"), "own.jsonl:2: asked_at is not right: 'soon' should be"),
        (an_own_question(asked_at=5), "own.jsonl:2: asked_at is not right: a date should be text"),
        (an_own_question(abstention="no"), "own.jsonl:2: abstention should be true or false, is t"),
        ({"conversation": "ana"}, "own.jsonl:2: it has neither sessions nor question. A line is"),
        ([], "own.jsonl:2: it is a list and should be an object. A line is"),
        (
            an_own_question(evidence=["t9"]),
            "own.jsonl:2: evidence[0] is 't9', and conversation 'ana' has no such id: it has t1, m",
        ),
        (an_own_question(stale=["t9"]), "own.jsonl:2: stale[0] is 't9', and conversation"),
        (an_own_question(sessions=["3"]), "own.jsonl:2: sessions[0] is '3', and conversation"),
        (
            an_own_question(conversation="eve"),
            "own.jsonl:2: conversation 'eve' is in no line with sessions: add it, or mend the name",
        ),
        (
            an_own_conversation(),
            "own.jsonl:2: conversation 'ana' stands in own.jsonl:1 already: put all its sessions",
        ),
    ],
)
def test_a_fault_is_told_with_file_line_field_and_fix(
    tmp_path: Path, line: Any, fault: str
) -> None:
    assert refused(tmp_path, an_own_conversation(), line).startswith(fault)


def test_ids_that_are_there_twice_are_told(tmp_path: Path) -> None:
    turn = {"id": "t1", "role": "user", "text": "Hello"}
    told = an_own_conversation(
        sessions=[{"id": "a", "turns": [turn]}, {"id": "a", "turns": [turn]}]
    )
    asked = an_own_question(id="q", evidence=[])

    assert refused(tmp_path, told, asked, asked).splitlines() == [
        "own.jsonl:2: id 'q' is another question's too: give each one of its own",
        "own.jsonl:3: id 'q' is another question's too: give each one of its own",
        "own.jsonl:1: session id 'a' is there 2 times: give each one of its own",
        "own.jsonl:1: turn id 't1' is there 2 times: give each one of its own",
    ]


def test_json_that_is_none_is_told_with_its_column(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text('{"conversation": "ana",}\n')

    with pytest.raises(InvalidDataset, match=r"own.jsonl:1: column \d+: .*each line is one JSON"):
        open_own(path)


def test_text_that_is_not_utf_8_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_bytes(b'\n{"conversation": "\xe9"}\n')

    with pytest.raises(InvalidDataset, match=r"own.jsonl:2: it is not UTF-8"):
        open_own(path)


def test_all_faults_are_told_at_once_up_to_a_number(tmp_path: Path) -> None:
    told = refused(tmp_path, *[{"conversation": "ana"}] * (MOST_SHOWN + 5)).splitlines()

    assert len(told) == MOST_SHOWN + 1
    assert told[-1] == "... and 5 more"


def test_a_file_without_a_conversation_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text("\n")

    with pytest.raises(InvalidDataset, match="no conversation in it"):
        open_own(path)


@given(
    sessions=st.lists(st.integers(1, 4), min_size=1, max_size=4),
    named=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=3),
)
def test_turns_without_ids_are_found_by_session_and_number(
    tmp_path_factory: pytest.TempPathFactory,
    sessions: list[int],
    named: list[tuple[int, int]],
) -> None:
    told = an_own_conversation(
        sessions=[{"turns": [{"role": "user", "text": "x"}] * length} for length in sessions]
    )
    evidence = [
        f"{session % len(sessions) + 1}:{turn % sessions[session % len(sessions)] + 1}"
        for session, turn in named
    ]
    path = written_lines(
        tmp_path_factory.mktemp("own") / "own.jsonl", [told, an_own_question(evidence=evidence)]
    )

    [(conversation, [question])] = open_own(path).conversations()

    assert question.evidence == set(evidence)
    assert question.sessions == {key.split(":")[0] for key in evidence}
    assert question.evidence <= {turn.key for turn in conversation.turns}


GUIDE = Path(__file__).parents[3] / "docs" / "howto" / "evaluate-your-own-conversations.md"


def block(kind: str) -> str:
    """Return the guide's only block of that kind."""
    [text] = re.findall(
        rf"^```{kind}\n(.*?)^```$", GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    return str(text)


def test_the_example_of_the_guide_can_be_opened(tmp_path: Path) -> None:
    path = tmp_path / "conversations.jsonl"
    path.write_text(block("jsonl"))

    [(_, [where, dog])] = open_own(path).conversations()

    assert (where.evidence, where.stale) == (frozenset({"june:1"}), frozenset({"lisbon"}))
    assert dog.is_abstention


def test_the_guide_names_every_field() -> None:
    named = set(re.findall(r"^\| `(?:\w+\[\]\.)?(\w+)` \|", GUIDE.read_text("utf-8"), re.MULTILINE))

    shapes = (ConversationLine, QuestionLine, OwnSession, OwnTurn)
    assert named == {name for shape in shapes for name in shape.model_fields}


def test_the_conversion_of_the_guide_writes_what_can_be_opened(tmp_path: Path) -> None:
    history = an_item(
        questions=["How many?", "Which tea?"],
        answers=[3, "none"],
        answer_session_ids=[["answer_aa_1", "answer_aa_2"], ["ultrachat_5"]],
    )
    guide: dict[str, Any] = {}
    exec(block("python"), guide)  # noqa: S102 the guide's own lines
    guide["convert"](written(tmp_path / "data.json", history), tmp_path / "own.jsonl")

    [(conversation, questions)] = open_own(tmp_path / "own.jsonl").conversations()

    assert len(conversation.turns) == 6
    assert [(q.answers, sorted(q.sessions)) for q in questions] == [
        (["3"], ["answer_aa_1", "answer_aa_2"]),
        (["none"], ["ultrachat_5"]),
    ]
