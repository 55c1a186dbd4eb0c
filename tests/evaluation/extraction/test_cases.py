"""Labels are read as they are written, and a wrong one is told with its place and its fix."""

from pathlib import Path

import pytest

from evaluation.errors import InvalidCases
from evaluation.extraction import cases
from evaluation.extraction.cases import CASES, read_cases
from tests.evaluation.extraction.labelled import DATE, MINI, a_case

GOOD = f"""\
- id: en-good
  language: en
  about: [plain]
  sessions:
    - date: {DATE}
      turns:
        - user: "no"
        - assistant: 12
          name: Ana
  expected:
    - {{type: semantic, says: [no, [1.50, 007]], not: [yes], when: null}}
    - {{type: semantic, says: [x]}}
"""


def written(directory: Path, text: str, name: str = "some.yaml") -> Path:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def problems(path: Path) -> list[str]:
    with pytest.raises(InvalidCases) as refused:
        read_cases(path)
    return [line.removeprefix(f"{path}:") for line in refused.value.details["problems"]]


def test_words_are_read_as_they_are_written(tmp_path: Path) -> None:
    [read] = read_cases(written(tmp_path, GOOD))

    timed, untimed = read.case.expected
    assert (timed.says, timed.says_not) == (("no", ("1.50", "007")), ("yes",))
    assert [(turn.role, turn.text) for turn in read.case.turns] == [
        ("user", "no"),
        ("assistant", "12"),
    ]
    assert (timed.is_timed, untimed.is_timed) == (True, False)


def test_the_half_of_a_case_is_the_directory_it_lies_in(tmp_path: Path) -> None:
    written(tmp_path, GOOD, "held/a.yaml")
    written(tmp_path, GOOD.replace("en-good", "en-other"), "worked/deep/b.yaml")
    written(tmp_path, GOOD.replace("en-good", "en-third"), "c.yaml")

    halves = {read.case.id: read.half for read in read_cases(tmp_path)}

    assert halves == {"en-good": "held", "en-other": "worked", "en-third": "own"}


@pytest.mark.parametrize(
    ("good", "bad", "told"),
    [
        ("en-good", "good", "1:7: case good: id: should be lower case words with dashes"),
        ("id: en-good", "id: es-good", "1:3: case es-good: id: should begin with the language"),
        ("[plain]", "[plan, plane]", "3:17: case en-good: about[1]: 'plane' is none of 'plain',"),
        (DATE, "2026-03-02", "5:13: case en-good: sessions[0].date: '2026-03-02' has no offset"),
        (DATE, "soon", "5:13: case en-good: sessions[0].date: 'soon' is no moment such as"),
        ("- user:", "- usr:", "7:11: case en-good: sessions[0].turns[0]: should have one of user"),
        ("name:", "names:", "9:18: case en-good: sessions[0].turns[1].names: is no key of it; di"),
        ("12", "''", "8:11: case en-good: sessions[0].turns[1]: should be not empty: write"),
        ("says: [x]", "says: x", "12:30: case en-good: expected[1].says: should be a list"),
        ("says: [x]", "says: []", "12:30: case en-good: expected[1].says: should be not empty"),
        ("says: [x]", "say: [x]", "12:7: case en-good: expected[1].says: is missing: add it"),
        ("says: [x]", "says: [x], not: [X]", "12:7: case en-good: expected[1]: not: X stands in"),
        ("says: [x]", "says: [x], actions: [UPDATE]", "12:7: case en-good: expected[1]: actions:"),
        (
            "says: [x]",
            "says: [x], ended: true, actions: [ADD]",
            "12:7: case en-good: expected[1]: actions: what has ended was taken back",
        ),
        ("when: null", "when: {from: 2026-03-01}", "11:67: case en-good: expected[0].when.to: is"),
        ("says: [x]", "says: [x], says: [y]", "12:35: case en-good: expected[1].says: stands tw"),
        ("language: en", "language: en: es", "2:15: no valid YAML: mapping values"),
        (GOOD, "a: b", "1:1: a file is a list of cases: begin each with `- id:`"),
        (GOOD, "- hm", "1:3: case 0: should be a mapping of keys to values"),
    ],
)
def test_a_wrong_label_is_told_with_file_case_key_and_fix(
    tmp_path: Path, good: str, bad: str, told: str
) -> None:
    path = written(tmp_path, GOOD.replace(good, bad))

    assert [line for line in problems(path) if line.startswith(told)]


def test_a_wrong_word_in_a_list_is_told_once(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD.replace("says: [x]", "says: [x, [[y]]]"))

    assert all("expected[1].says[1]" in line for line in problems(path))


def test_an_id_is_given_once_in_a_half(tmp_path: Path) -> None:
    first = written(tmp_path, GOOD, "a.yaml")
    second = written(tmp_path, GOOD, "b.yaml")
    written(tmp_path, GOOD, "held/a.yaml")

    [told] = problems(tmp_path)

    assert told == (
        f"{second}:1:3: case en-good: id: {first}:1:3 has it already: "
        "give each case of a half one of its own"
    )


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"\xff", "it is not UTF-8: save it so"), (None, "cannot be read: No such file or directory")],
)
def test_a_file_that_cannot_be_read_is_named(
    tmp_path: Path, content: bytes | None, told: str
) -> None:
    path = tmp_path / "some.yaml"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(InvalidCases, match=told):
        read_cases(path)


def test_a_directory_without_cases_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidCases, match="there is no case in it"):
        read_cases(tmp_path)


def test_a_day_begins_at_midnight_where_the_case_was_said() -> None:
    case = a_case(expected=[{"type": "semantic", "says": ["x"], "when": {"from": "2026-03-01",
        "to": "2026-03-02T00:00:00+09:00"}}])  # fmt: skip
    when = case.expected[0].when
    assert when is not None

    start, end = case.moments(when.start), case.moments(when.end)

    assert [one.isoformat() for one in (*start, *end)] == [
        "2026-03-01T00:00:00+01:00",
        "2026-03-02T00:00:00+09:00",
    ]


def test_problems_are_listed_for_writers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = written(tmp_path, GOOD.replace("[plain]", "[plane]"))

    statuses = cases.main([str(bad)]), cases.main([str(MINI)])

    assert statuses == (1, 0)
    assert capsys.readouterr().out.splitlines()[1:] == [
        f"{bad}: 0 cases, 1 problems",
        f"{MINI}: 10 cases, 0 problems",
    ]


def test_the_projects_own_cases_are_right_and_enough() -> None:
    halves = [read.half for read in read_cases(CASES)]

    assert len(halves) >= 150
    assert min(halves.count("worked"), halves.count("held")) >= 70
