"""The scores of single questions: records in, metrics asked, one number by measure out."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set

from evaluation.metrics import retrieval
from evaluation.records import FoundItem, QuestionRecord, SearchRecord
from evaluation.report.measured import Measure

AtK = Callable[[retrieval.Ranking, Set[str], int], float]
AT_K: Mapping[str, AtK] = {
    "recall": retrieval.recall,
    "hit": retrieval.hit,
    "recall_all": retrieval.recall_all,
    "ndcg": retrieval.ndcg,
    "ndcg_lme": retrieval.ndcg_lme,
}


def score_search(
    search: SearchRecord,
    question: QuestionRecord,
    exchanges: Mapping[str, str],
    cutoffs: Sequence[int],
) -> Iterator[tuple[Measure, float]]:
    """Score one search at every level where what is right is known."""
    for level, ranking, gold in _levels(search.found, question, exchanges):
        if not gold:
            continue
        yield Measure("mrr", level), retrieval.reciprocal_rank(ranking, gold)
        for k in cutoffs:
            for name, metric in AT_K.items():
                yield Measure(name, level, k), metric(ranking, gold, k)


def _levels(
    found: Sequence[FoundItem], question: QuestionRecord, exchanges: Mapping[str, str]
) -> Iterator[tuple[str, retrieval.Ranking, Set[str]]]:
    yield "turn", [item.turns for item in found], frozenset(question.evidence)
