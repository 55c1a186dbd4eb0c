from pathlib import Path

import pytest

from evaluation.errors import RecordsDamaged
from evaluation.report.measure import measure
from evaluation.report.measured import MACRO, Measure
from tests.evaluation.report.records import (
    a_manifest,
    a_question,
    a_search,
    an_answer,
    an_item,
    write,
)

RECALL = Measure("recall", "turn", 5)


def test_recall_is_the_mean_over_the_questions(tmp_path: Path) -> None:
    records = (
        a_question("q1", evidence=("t1", "t2")),
        a_question("q2", evidence=("t3",)),
        a_search("q1", [an_item("t1"), an_item("t9")]),
        a_search("q2", [an_item("t3")]),
    )

    figure = measure(write(tmp_path, *records)).figure(RECALL)

    assert figure is not None
    assert (figure.value, figure.n) == (0.75, 2)


def test_the_macro_average_gives_every_category_the_same_weight(tmp_path: Path) -> None:
    records = (
        *(a_question(f"q{n}", category="1") for n in range(3)),
        a_question("q3", category="2"),
        *(a_search(f"q{n}", [an_item("t1")]) for n in range(3)),
        a_search("q3", []),
    )

    measured = measure(write(tmp_path, *records))

    micro, macro = (measured.figure(RECALL, category=name) for name in ("micro", MACRO))
    assert micro is not None
    assert macro is not None
    assert (micro.value, macro.value, macro.n) == (0.75, 0.5, 2)


def test_adversarial_questions_are_out_of_the_average_and_counted(tmp_path: Path) -> None:
    records = (
        a_question("q1"),
        a_question("q2", category="5", is_adversarial=True),
        a_search("q1", [an_item("t1")]),
        a_search("q2", []),
    )

    measured = measure(write(tmp_path, *records))

    figure = measured.figure(RECALL)
    assert figure is not None
    assert (figure.value, figure.n) == (1.0, 1)
    assert [(left.reason, left.questions) for left in measured.left_out] == [("adversarial", 1)]
    assert measured.categories == {"4": 1, "5": 1}


def test_a_question_without_evidence_has_no_retrieval_and_is_counted(tmp_path: Path) -> None:
    records = (a_question("q1", evidence=()), a_search("q1", [an_item("t1")]))

    measured = measure(write(tmp_path, *records))

    assert measured.figure(RECALL) is None
    assert [left.retrieval_only for left in measured.left_out] == [True]


def test_a_line_written_again_replaces_the_former(tmp_path: Path) -> None:
    records = (a_question("q1"), a_search("q1", []), a_search("q1", [an_item("t1")]))

    figure = measure(write(tmp_path, *records)).figure(RECALL)

    assert figure is not None
    assert (figure.value, figure.n) == (1.0, 1)


def test_records_of_other_data_are_not_counted_and_told(tmp_path: Path) -> None:
    records = (
        a_question("q1"),
        a_search("q1", [an_item("t1")]),
        a_search("q1", [], dataset="e" * 64),
    )

    measured = measure(write(tmp_path, *records))

    assert measured.foreign == 1
    assert len(measured.systems) == 1


def test_a_run_that_was_cut_off_says_how_much_is_missing(tmp_path: Path) -> None:
    records = (a_question("q1"), a_question("q2"), a_search("q1", [an_item("t1")]))

    system = measure(write(tmp_path, *records)).systems[0]

    assert (system.asked, system.missing) == (1, 1)


def test_a_directory_without_a_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordsDamaged, match=r"manifest\.json is not there"):
        measure(tmp_path)


def test_a_line_that_is_no_record_is_named_by_file_and_number(tmp_path: Path) -> None:
    write(tmp_path, a_question("q1"))
    with (tmp_path / "search.jsonl").open("a") as file:
        file.write('{"question": "q1"}\n')

    with pytest.raises(RecordsDamaged, match=r"search\.jsonl, line 1: dataset"):
        measure(tmp_path)


def test_a_line_that_is_not_written_to_its_end_is_not_there_yet(tmp_path: Path) -> None:
    write(tmp_path, a_question("q1"), a_search("q1", [an_item("t1")]))
    with (tmp_path / "search.jsonl").open("a") as file:
        file.write('{"question": "q')

    figure = measure(tmp_path).figure(RECALL)

    assert figure is not None
    assert figure.n == 1


@pytest.mark.parametrize(("data", "value"), [("own", 1.0), ("locomo", 0.0)])
def test_only_locomos_categories_change_how_an_answer_is_counted(
    tmp_path: Path, data: str, value: float
) -> None:
    records = (
        a_question("q1", category="5"),
        a_search("q1", [an_item("t1")]),
        an_answer("q1", "Lisbon"),
    )
    directory = write(tmp_path, *records, manifest=a_manifest(dataset_name=data))

    figure = measure(directory).figure(Measure("f1_locomo", k=10))

    assert figure is not None
    assert figure.value == value


def test_one_value_that_is_a_share_itself_has_no_interval(tmp_path: Path) -> None:
    records = (a_question("q1", evidence=("t1", "t2")), a_search("q1", [an_item("t1")]))

    figure = measure(write(tmp_path, *records)).figure(RECALL)

    assert figure is not None
    assert (figure.value, figure.low, figure.high) == (0.5, None, None)
