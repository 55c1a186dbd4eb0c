"""Everything that a directory of records says, as figures."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from evaluation.metrics.abstention import score_gap, separation
from evaluation.records import AnswerRecord, JudgementRecord, QuestionRecord, SearchRecord
from evaluation.report import costs
from evaluation.report.averages import average
from evaluation.report.judging import judged
from evaluation.report.losses import Losses
from evaluation.report.measured import (
    Cost,
    Gap,
    Latency,
    LeftOut,
    Lost,
    Measure,
    Measured,
    Reason,
    System,
    middle_of,
)
from evaluation.report.possible import BUDGETS, CURVE
from evaluation.report.reading import Records, read_records
from evaluation.report.scores import (
    Scored,
    score_answer,
    score_curve,
    score_judgements,
    score_search,
)
from evaluation.report.systems import systems_of

Scores = dict[Measure, dict[str, float]]

CUTOFFS = (5, 10, 20)


def measure(
    directory: Path,
    *,
    cutoffs: Sequence[int] = CUTOFFS,
    budgets: Sequence[int] = BUDGETS,
    with_adversarial: bool = False,
    current: Collection[str] = (),
) -> Measured:
    """Measure what the stages wrote into a directory.

    `current` are the keys of the systems that the report is about: they stand before those that an
    earlier run left in the directory.

    Raises:
        RecordsDamaged: it has no manifest, or a line is not what its file holds.

    """
    records = read_records(directory)
    counted = {
        key: question
        for key, question in records.questions.items()
        if with_adversarial or not question.is_adversarial
    }
    return _Measuring(
        name=directory.resolve().name,
        current=current,
        records=records,
        exchanges=records.exchanges(),
        counted=counted,
        cutoffs=sorted(cutoffs),
        budgets=sorted(budgets),
        with_adversarial=with_adversarial,
    ).measured()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measuring:
    name: str
    current: Collection[str]
    records: Records
    exchanges: Mapping[str, Mapping[str, str]]
    """Of each turn, by conversation."""
    counted: Mapping[str, QuestionRecord]
    cutoffs: Sequence[int]
    budgets: Sequence[int]
    with_adversarial: bool

    def measured(self) -> Measured:
        found = systems_of(self.records, self.counted.keys())
        systems = sorted(found, key=lambda system: system.key not in self.current)
        scores = {system.key: _collected(self._scored(system)) for system in systems}
        searches = [system for system in systems if system.stage == "search"]
        lost: list[Lost] = []
        reasons: list[Reason] = []
        for system in searches:
            worst, why = self._losses(system, searches).find()
            lost += worst
            reasons += why
        return Measured(
            name=self.name,
            manifest=self.records.manifest,
            categories=_categories(self.records.questions.values()),
            left_out=_left_out(self.records.questions.values(), self.counted),
            foreign=self.records.foreign,
            with_adversarial=self.with_adversarial,
            cutoffs=self.cutoffs,
            budgets=self.budgets,
            systems=systems,
            figures=[
                figure
                for key, measures in scores.items()
                for what, by_question in measures.items()
                for figure in average(key, what, by_question, self.counted)
            ],
            gaps=list(chain.from_iterable(map(self._gap, searches))),
            judged=[
                judged(
                    system,
                    self.records.judgements[system.key],
                    list(self.counted),
                    self.records.self_tests,
                )
                for system in systems
                if system.stage == "judge"
            ],
            latencies=list(self._latencies(systems)),
            costs=list(self._costs(systems)),
            reasons=reasons,
            lost=lost,
            scores=scores,
            conversations={key: each.conversation for key, each in self.counted.items()},
            question_categories={key: each.category for key, each in self.counted.items()},
        )

    def _scored(self, system: System) -> Iterator[tuple[str, Scored]]:
        match system.stage:
            case "search":
                for search in self._searches(system):
                    yield search.question, self._score_search(search)
            case "answer":
                is_locomo = self.records.manifest.dataset_name == "locomo"
                for answer in self._answers(system):
                    question = self.counted[answer.question]
                    yield answer.question, score_answer(answer, question, is_locomo=is_locomo)
            case _:
                for key, judgements in self.records.judgements[system.key].items():
                    if key in self.counted:
                        yield key, score_judgements(judgements, system.k)

    def _score_search(self, search: SearchRecord) -> Scored:
        question = self.counted[search.question]
        exchanges = self.exchanges.get(question.conversation, {})
        yield from score_curve(search, question, [k for k in CURVE if k <= search.depth])
        yield from score_search(
            search, question, exchanges, cutoffs=self.cutoffs, budgets=self.budgets
        )

    def _searches(self, system: System) -> list[SearchRecord]:
        searches = self.records.searches[system.key].values()
        return [search for search in searches if search.question in self.counted]

    def _answers(self, system: System) -> list[AnswerRecord]:
        answers = self.records.answers[system.key].values()
        return [answer for answer in answers if answer.question in self.counted]

    def _verdicts(self, system: System) -> list[JudgementRecord]:
        return list(chain.from_iterable(self.records.judgements[system.key].values()))

    def _losses(self, system: System, searches: Sequence[System]) -> Losses:
        others = {
            other.mode: self.records.searches[other.key]
            for other in searches
            if other.pipeline == system.pipeline and other.mode != system.mode
        }
        return Losses(
            system=system.key,
            k=middle_of(self.cutoffs),
            questions=self.counted,
            searches=self.records.searches[system.key],
            others=others,
            exchanges=self.exchanges,
        )

    def _gap(self, system: System) -> Iterator[Gap]:
        """Tell questions without an answer from others; adversarial ones have none either."""
        there: list[float] = []
        absent: list[float] = []
        for key, search in self.records.searches[system.key].items():
            question = self.records.questions.get(key)
            score = search.found[0].score if search.found else 0.0
            if question is not None and score is not None:
                is_absent = question.is_abstention or question.is_adversarial
                (absent if is_absent else there).append(score)
        if there and absent:
            yield Gap(
                system=system.key,
                answerable=len(there),
                unanswerable=len(absent),
                gap=score_gap(there, absent),
                separation=separation(there, absent),
            )

    def _latencies(self, systems: Sequence[System]) -> Iterator[Latency]:
        yield from costs.ingest_latencies(self.records.ingests)
        for system in systems:
            match system.stage:
                case "search":
                    yield from costs.search_latencies(system.key, self._searches(system))
                case "answer":
                    yield from costs.call_latencies(system.key, "answer", self._answers(system))
                case _:
                    yield from costs.call_latencies(system.key, "judge", self._verdicts(system))

    def _costs(self, systems: Sequence[System]) -> Iterator[Cost]:
        yield from costs.ingest_costs(self.records.ingests)
        for system in systems:
            match system.stage:
                case "search":
                    searches = self._searches(system)
                    if searches:
                        yield costs.search_cost(system.key, searches, self.cutoffs)
                case "answer":
                    yield costs.call_cost(system.key, self._answers(system))
                case _:
                    yield costs.call_cost(system.key, self._verdicts(system))


def _collected(scored: Iterable[tuple[str, Scored]]) -> Scores:
    scores: Scores = {}
    for question, values in scored:
        for what, value in values:
            scores.setdefault(what, {})[question] = value
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
    unanswerable = sum(each.is_abstention and not each.evidence for each in counted.values())
    bare = sum(not each.is_abstention and not each.evidence for each in counted.values())
    found = (
        LeftOut(reason="adversarial", questions=adversarial, retrieval_only=False),
        LeftOut(reason="cannot be answered", questions=unanswerable, retrieval_only=True),
        LeftOut(reason="no evidence given", questions=bare, retrieval_only=True),
    )
    return [left_out for left_out in found if left_out.questions]
