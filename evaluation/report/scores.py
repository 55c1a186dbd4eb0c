"""The scores of single questions: records in, metrics asked, one number by measure out."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import chain
from statistics import fmean

from evaluation.metrics import bleu, overlap, retrieval
from evaluation.metrics.budgets import items_within
from evaluation.metrics.freshness import fresh_over_stale
from evaluation.records import (
    AnswerRecord,
    FoundItem,
    JudgementRecord,
    QuestionRecord,
    SearchRecord,
)
from evaluation.report.measured import Measure

Scored = Iterator[tuple[Measure, float]]
AtK = Callable[[retrieval.Ranking, Set[str], int], float]
SHARES: Mapping[str, AtK] = {
    "recall": retrieval.recall,
    "hit": retrieval.hit,
    "recall_all": retrieval.recall_all,
}
GAINS: Mapping[str, AtK] = {"ndcg": retrieval.ndcg, "ndcg_lme": retrieval.ndcg_lme}
OVERLAPS: Mapping[str, Callable[[str, str], float]] = {
    "f1_squad": overlap.squad_f1,
    "f1_mem0": overlap.mem0_f1,
    "bleu1": bleu.bleu1,
    "bleu4": bleu.bleu4,
    "bigram_precision": bleu.bigram_precision,
    "contained": overlap.contained,
}
TURN, EXCHANGE, SESSION, SESSION_OF_ITEMS = "turn", "exchange", "session", "session_of_items"
"""`session` counts k distinct sessions, as LongMemEval does when it makes sessions of turns;
`session_of_items` counts those that the first k items are of."""
J = "j"


def score_search(
    search: SearchRecord,
    question: QuestionRecord,
    exchanges: Mapping[str, str],
    *,
    cutoffs: Sequence[int],
    budgets: Sequence[int],
) -> Scored:
    """Score one search at every level where what is right is known."""
    for level, ranking, gold in _levels(search.found, question, exchanges):
        if not gold:
            continue
        yield Measure("mrr", level), retrieval.reciprocal_rank(ranking, gold)
        for k in cutoffs:
            for name, metric in chain(SHARES.items(), GAINS.items()):
                yield Measure(name, level, k), metric(ranking, gold, k)
    yield from _within_budgets(search.found, question, budgets)
    yield from _fresh(search.found, question, cutoffs)
    yield from _contained(search.found, question, cutoffs)


def score_curve(search: SearchRecord, question: QuestionRecord, cutoffs: Sequence[int]) -> Scored:
    """Score one search by turns alone, at the many cutoffs that a curve is drawn through."""
    gold = frozenset(question.evidence)
    ranking = [item.turns for item in search.found]
    for k in cutoffs if gold else ():
        for name, metric in SHARES.items():
            yield Measure(name, TURN, k), metric(ranking, gold, k)


def score_answer(
    answer: AnswerRecord, question: QuestionRecord, *, is_locomo: bool = False
) -> Scored:
    """Score one answer by the words it shares with a right one, the best of several.

    Only LoCoMo's categories mean to its F1 what they are called: others' may have the same names.
    """
    k = answer.k
    yield Measure("words", k=k), float(len(answer.answer.split()))
    if question.is_abstention:
        adversarial = overlap.ADVERSARIAL
        yield Measure("declined", k=k), overlap.locomo_f1(answer.answer, "", adversarial)
    if question.is_abstention or not question.answers:
        return
    golds = question.answers
    category = question.category if is_locomo else ""
    yield (
        Measure("f1_locomo", k=k),
        max(overlap.locomo_f1(answer.answer, gold, category) for gold in golds),
    )
    for name, metric in OVERLAPS.items():
        yield Measure(name, k=k), max(metric(answer.answer, gold) for gold in golds)


def score_judgements(judgements: Sequence[JudgementRecord], k: int | None) -> Scored:
    """Score one answer by the share of runs that called it right; unreadable is not right."""
    yield Measure(J, k=k), fmean(float(judgement.is_right is True) for judgement in judgements)


def _levels(
    found: Sequence[FoundItem], question: QuestionRecord, exchanges: Mapping[str, str]
) -> Iterator[tuple[str, retrieval.Ranking, Set[str]]]:
    yield TURN, [item.turns for item in found], frozenset(question.evidence)
    ranking = [[exchanges[turn] for turn in item.turns if turn in exchanges] for item in found]
    gold = frozenset(exchanges[turn] for turn in question.evidence if turn in exchanges)
    yield EXCHANGE, ranking, gold
    sessions = [item.sessions for item in found]
    yield SESSION, retrieval.first_places(sessions), frozenset(question.sessions)
    yield SESSION_OF_ITEMS, sessions, frozenset(question.sessions)


def _within_budgets(
    found: Sequence[FoundItem], question: QuestionRecord, budgets: Sequence[int]
) -> Scored:
    gold = frozenset(question.evidence)
    ranking = [item.turns for item in found]
    for budget in budgets if gold else ():
        k = items_within((item.tokens for item in found), budget)
        for name, metric in SHARES.items():
            yield Measure(name, TURN, tokens=budget), metric(ranking, gold, k)


def _fresh(found: Sequence[FoundItem], question: QuestionRecord, cutoffs: Sequence[int]) -> Scored:
    stale = frozenset(question.stale)
    fresh = frozenset(question.evidence) - stale
    if not stale or not fresh:
        return
    ranking = [item.turns for item in found]
    for k in cutoffs:
        yield Measure("fresh_over_stale", TURN, k), fresh_over_stale(ranking, fresh, stale, k)


def _contained(
    found: Sequence[FoundItem], question: QuestionRecord, cutoffs: Sequence[int]
) -> Scored:
    if question.is_abstention or not question.answers:
        return
    holds = [
        any(overlap.contained(item.content, gold) for gold in question.answers)
        for item in found[: max(cutoffs)]
    ]
    for k in cutoffs:
        yield Measure("gold_contained", TURN, k), float(any(holds[:k]))
