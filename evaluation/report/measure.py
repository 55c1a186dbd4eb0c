"""Everything that a directory of records says, as figures."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from evaluation.records import QuestionRecord, SearchRecord
from evaluation.report.averages import average
from evaluation.report.measured import Figure, LeftOut, Measure, Measured, System
from evaluation.report.reading import Records, read_records
from evaluation.report.scores import score_search

Scores = dict[Measure, dict[str, float]]


def measure(
    directory: Path, *, cutoffs: Sequence[int] = (5, 10, 20), with_adversarial: bool = False
) -> Measured:
    """Measure what the stages wrote into a directory.

    Raises:
        UnreadableRecords: it has no manifest, or a line is not what its file holds.

    """
    records = read_records(directory)
    counted = {
        key: question
        for key, question in records.questions.items()
        if with_adversarial or not question.is_adversarial
    }
    systems: list[System] = []
    figures: list[Figure] = []
    scores: dict[str, Scores] = {}
    for key, searches in records.searches.items():
        systems.append(_search_system(key, searches, counted))
        scores[key] = _search_scores(searches.values(), counted, records, cutoffs)
        for what, by_question in scores[key].items():
            figures.extend(average(key, what, by_question, counted))
    return Measured(
        manifest=records.manifest,
        categories=_categories(records.questions.values()),
        left_out=_left_out(records.questions.values(), counted),
        foreign=records.foreign,
        systems=systems,
        figures=figures,
        scores=scores,
        conversations={key: question.conversation for key, question in counted.items()},
    )


def _search_system(
    key: str, searches: Mapping[str, SearchRecord], counted: Mapping[str, QuestionRecord]
) -> System:
    first = next(iter(searches.values()))
    return System(
        key=key,
        label=f"{first.pipeline}/{first.mode}",
        stage="search",
        dataset=first.dataset,
        pipeline=first.pipeline,
        mode=first.mode,
        search=key,
        asked=len(searches.keys() & counted.keys()),
        missing=len(counted.keys() - searches.keys()),
    )


def _search_scores(
    searches: Iterable[SearchRecord],
    counted: Mapping[str, QuestionRecord],
    records: Records,
    cutoffs: Sequence[int],
) -> Scores:
    exchanges = records.exchanges()
    scores: Scores = {}
    for search in searches:
        question = counted.get(search.question)
        if question is None:
            continue
        known = exchanges.get(question.conversation, {})
        for what, value in score_search(search, question, known, cutoffs):
            scores.setdefault(what, {})[search.question] = value
    return scores


def _categories(questions: Iterable[QuestionRecord]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for question in questions:
        counts[question.category] = counts.get(question.category, 0) + 1
    return dict(sorted(counts.items()))


def _left_out(
    questions: Iterable[QuestionRecord], counted: Mapping[str, QuestionRecord]
) -> list[LeftOut]:
    adversarial = sum(question.question not in counted for question in questions)
    bare = sum(not question.evidence for question in counted.values())
    found = (
        LeftOut(reason="adversarial", questions=adversarial, retrieval_only=False),
        LeftOut(reason="no evidence given", questions=bare, retrieval_only=True),
    )
    return [left_out for left_out in found if left_out.questions]
