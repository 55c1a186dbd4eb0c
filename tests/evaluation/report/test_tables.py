from pathlib import Path

from evaluation.report.measure import measure
from evaluation.report.published import Published
from evaluation.report.table import Table
from evaluation.report.tables import NO_JUDGE, Tables
from tests.evaluation.report.records import (
    a_judgement,
    a_manifest,
    a_question,
    a_search,
    a_self_test,
    an_answer,
    an_ingest,
    an_item,
    write,
)

RECORDS = (
    a_question("q1", category="1"),
    a_question("q2", category="4", evidence=("t3",), conversation="c2"),
    a_question("q3", category="5", is_adversarial=True),
    an_ingest(timing={"record": [1.0, 3.0]}, calls=2, tokens=90),
    a_search("q1", [an_item("t1"), an_item("t2")]),
    a_search("q2", [an_item("t1")]),
)


def table(tables: Tables, title: str) -> Table:
    return next(each for each in tables.all() if each.title.startswith(title))


def test_retrieval_is_told_by_k_with_intervals_and_n(tmp_path: Path) -> None:
    tables = Tables(measure(write(tmp_path, *RECORDS), cutoffs=(5,)))

    (row,) = table(tables, "Retrieval by turn").rows

    assert row[:4] == ("turns/hybrid", "5", "2", "0.500 [0.095, 0.905]")


def test_categories_have_the_names_of_both_schemes(tmp_path: Path) -> None:
    directory = write(tmp_path, *RECORDS, manifest=a_manifest(dataset_name="locomo"))

    rows = table(Tables(measure(directory)), "recall@10 by turn by category").rows

    assert [row[0] for row in rows] == [
        "1 multi-hop (Mem0: single-hop)",
        "4 single-hop (Mem0: open-domain)",
        "all questions",
        "mean of categories",
    ]
    assert [row[1] for row in rows] == ["1", "1", "2", "2"]


def test_what_is_left_out_is_counted_aloud(tmp_path: Path) -> None:
    notes = table(Tables(measure(write(tmp_path, *RECORDS))), "Questions").notes

    assert "adversarial: out of every average: 1 questions" in notes


def test_synthetic_data_are_named_on_every_table(tmp_path: Path) -> None:
    directory = write(tmp_path, *RECORDS, manifest=a_manifest(is_synthetic=True))

    titles = [each.title for each in Tables(measure(directory)).all()]

    assert titles
    assert all("synthetic data" in title for title in titles)


def test_published_figures_stand_in_a_column_with_their_source(tmp_path: Path) -> None:
    published = Published(name="FTS5", source="baseline of ours", figures={"recall@5": 0.42})
    tables = Tables(measure(write(tmp_path, *RECORDS), cutoffs=(5, 10)), published=[published])

    found = table(tables, "Retrieval by turn")

    assert found.columns[-1] == "FTS5 (recall)"
    assert [row[-1] for row in found.rows] == ["0.420", "-"]
    assert found.notes == ["FTS5: baseline of ours"]
    assert "FTS5 (recall)" not in table(tables, "Retrieval by exchange").columns


def test_published_figures_of_categories_stand_beside_ones_own(tmp_path: Path) -> None:
    figures = {"recall@10/1": 0.4, "recall@10": 0.7}
    published = Published(name="FTS5", source="baseline of ours", figures=figures)
    tables = Tables(measure(write(tmp_path, *RECORDS)), published=[published])

    found = table(tables, "recall@10 by turn by category")

    assert found.columns == ("category", "n", "turns/hybrid", "FTS5")
    assert [row[-1] for row in found.rows] == ["0.400", "-", "0.700", "-"]


def test_without_a_judge_it_is_said_that_there_is_no_j(tmp_path: Path) -> None:
    found = table(Tables(measure(write(tmp_path, *RECORDS))), "J:")

    assert (list(found.rows), found.notes) == ([], (NO_JUDGE,))


def test_j_stands_beside_what_the_judge_lets_pass(tmp_path: Path) -> None:
    judged = (
        an_answer("q1", "Lisbon"),
        an_answer("q2", "Porto"),
        *(a_judgement("q1", is_right=True, run=run) for run in (1, 2)),
        *(
            a_judgement("q2", is_right=is_right, run=run)
            for run, is_right in ((1, True), (2, None))
        ),
        a_self_test("right", is_right=True),
        a_self_test("specific", is_right=False),
        a_self_test("vague", is_right=True),
        a_self_test("vague", is_right=True, case="other judge", model="other"),
    )

    (row,) = table(Tables(measure(write(tmp_path, *RECORDS, *judged))), "J:").rows

    assert row[0] == "turns/hybrid k=10 extractive: locomo_generous by tiny"
    assert row[1] == "2"
    assert row[2].startswith("0.750 [")
    assert row[3:] == (
        *("0.750", "2 (spread 0.500)", "1 of 4"),
        *("1.00 (1/1)", "0.00 (0/1)", "1.00 (1/1)"),
    )


def test_answers_are_told_by_every_definition(tmp_path: Path) -> None:
    answers = (an_answer("q1", "Lisbon"), an_answer("q2", "in Porto now"))

    (row,) = table(Tables(measure(write(tmp_path, *RECORDS, *answers))), "Answers").rows

    assert row == (
        *("turns/hybrid k=10 extractive", "2", "0.500", "0.500", "0.500", "0.500", "0.500"),
        *("0.000", "0.500", "-", "2.0"),
    )


def test_latency_is_told_by_stage_cold_and_warm(tmp_path: Path) -> None:
    cold = a_search("q1", [], timing={"total": 90.0, "embed": 60.0}, is_cold=True)

    rows = table(Tables(measure(write(tmp_path, *RECORDS, cold))), "Latency").rows

    assert rows == [
        ("ingest", "record", "all", "2", "2.0", "2.9", "3.0"),
        ("turns/hybrid", "total", "warm", "1", "12.0", "12.0", "12.0"),
        ("turns/hybrid", "embed", "cold", "1", "60.0", "60.0", "60.0"),
        ("turns/hybrid", "total", "cold", "1", "90.0", "90.0", "90.0"),
    ]


def test_cost_is_told_in_tokens_and_calls(tmp_path: Path) -> None:
    answers = (an_answer("q1", "x", tokens_in=100, tokens_out=5),)

    rows = table(Tables(measure(write(tmp_path, *RECORDS, *answers))), "Cost").rows

    assert rows[0] == ("ingest", "1", "2", "90", "0", "1.0 s; 4 turns")
    assert rows[1][5] == "tokens of context: 15 at k=5, 15 at k=10, 15 at k=20"
    assert rows[2][:5] == ("turns/hybrid k=10 extractive", "1", "1", "100", "5")


def test_two_ways_to_store_are_not_added_up(tmp_path: Path) -> None:
    other = an_ingest(configuration="other2", stored={"blocks": 2})

    rows = table(Tables(measure(write(tmp_path, *RECORDS, other))), "Cost").rows

    assert [row[0] for row in rows[:2]] == ["ingest #ingest", "ingest #other2"]
    assert [row[5] for row in rows[:2]] == ["1.0 s; 4 turns", "1.0 s; 2 blocks"]


def test_of_two_searches_of_one_name_the_current_one_is_told_first(tmp_path: Path) -> None:
    again = a_search("q1", [], configuration="other2")

    systems = measure(write(tmp_path, *RECORDS, again), current=["other2"]).systems

    assert [each.label for each in systems] == ["turns/hybrid #other2", "turns/hybrid #search"]


def test_scores_tell_answerable_questions_from_others(tmp_path: Path) -> None:
    absent = a_question("q9", is_abstention=True, evidence=(), answers=())
    low = a_search("q9", [an_item("t4", score=0.1)])

    row = table(Tables(measure(write(tmp_path, *RECORDS, absent, low))), "Freshness").rows[0]

    assert row[-2:] == ("+0.400", "1.000")
