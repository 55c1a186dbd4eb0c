"""What categories and measures are called, where the data's own names say too little."""

from collections.abc import Mapping

from evaluation.report.measured import MACRO, MICRO, Figure

# The official code's names, and those of Mem0's paper and the papers that follow it.
_LOCOMO: Mapping[str, tuple[str, str]] = {
    "1": ("multi-hop", "single-hop"),
    "2": ("temporal", "temporal"),
    "3": ("open-domain", "multi-hop"),
    "4": ("single-hop", "open-domain"),
    "5": ("adversarial", "adversarial"),
}
MEANINGS: Mapping[str, str] = {
    "recall": "share of the evidence that the first k items bring",
    "hit": "questions for which the first k items bring any evidence (recall_any)",
    "recall_all": "questions for which the first k items bring all evidence (LongMemEval's recall)",
    "ndcg": "gain discounted by log2(rank + 1), by that of the best order",
    "ndcg_lme": "as ndcg, with LongMemEval's discount, which spares the second place",
    "mrr": "1 / rank of the first item with evidence",
    "fresh_over_stale": "changed facts: the new state is found within k, before any old one",
    "gold_contained": "a right answer stands word for word in one of the first k items",
    "f1_locomo": "LoCoMo's own F1: stemmed words, lists split at commas in category 1",
    "f1_squad": "SQuAD's F1: words as they are",
    "f1_mem0": "F1 over sets of words, as Mem0 and A-Mem count it",
    "bleu1": "BLEU-1 as Mem0 counts it, punctuation being words",
    "bleu4": "BLEU-4 of sentences, sacrebleu nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp",
    "bigram_precision": "share of the answer's word pairs that the right answer has",
    "contained": "the right answer stands word for word in the answer",
    "declined": "questions without an answer that were answered by saying so",
    "words": "words of an answer: F1 and BLEU fall with them, J rises",
    "j": "answers that the judge calls right; what it cannot say readably counts as wrong",
}


def category_label(dataset_name: str, category: str) -> str:
    """Return a category's id with its names; LoCoMo's names differ among papers."""
    if category == MICRO:
        return "all questions"
    if category == MACRO:
        return "mean of categories"
    if dataset_name != "locomo" or category not in _LOCOMO:
        return category
    official, others = _LOCOMO[category]
    return f"{category} {official}" + (f" (Mem0: {others})" if others != official else "")


def share(value: float | None) -> str:
    """Write a share, or a dash where there is none."""
    return "-" if value is None else f"{value:.3f}"


def with_interval(figure: Figure | None) -> str:
    """Write a figure with its interval."""
    if figure is None:
        return "-"
    if figure.low is None or figure.high is None:
        return share(figure.value)
    return f"{figure.value:.3f} [{figure.low:.3f}, {figure.high:.3f}]"


def milliseconds(value: float) -> str:
    """Write a time as exactly as it is of use."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"
