"""Shared runs of words, as machine translation counts them."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from evaluation.metrics.words import bare_words, mteval_words, treebank_words

Words = Sequence[str]
BLEU4_SIGNATURE = "nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp"
"""What sacrebleu calls the definition of `bleu4`."""
METHOD_1 = 0.1
"""Chen and Cherry's first smoothing: a run length that is not shared counts as this many."""


def bleu1(answer: str, gold: str) -> float:
    """BLEU-1 as Mem0 counts it: punctuation is words of its own, no smoothing has a part."""
    return bleu(treebank_words(answer), treebank_words(gold), order=1)


def bleu4(answer: str, gold: str) -> float:
    """BLEU-4 of one sentence as sacrebleu counts it by default, in 0..1 (`BLEU4_SIGNATURE`)."""
    return bleu(mteval_words(answer), mteval_words(gold), order=4, is_effective=True)


def bigram_precision(answer: str, gold: str) -> float:
    """Share of the answer's word pairs that the gold has, punctuation left out."""
    return ngram_precision(bare_words(answer), bare_words(gold), 2)


def ngram_precision(words: Words, wanted: Words, n: int) -> float:
    """Share of the runs of n words that are wanted, each counted as often as it is wanted."""
    shared, total = _counts(words, wanted, n)
    return shared / total if total else 0.0


def bleu(
    words: Words,
    wanted: Words,
    *,
    order: int,
    epsilon: float | None = None,
    is_effective: bool = False,
) -> float:
    """Geometric mean of the precisions of runs of 1 to `order` words, less where too short.

    `epsilon` smooths as `METHOD_1` does; without it each run length that is not shared counts half
    of the one before (NIST). `is_effective` leaves out run lengths that the words are too few for.
    """
    counts = [_counts(words, wanted, n) for n in range(1, order + 1)]
    if not counts[0][0]:
        return 0.0
    if is_effective:
        counts = [(shared, total) for shared, total in counts if total]
    precisions = list(_smoothed(counts, epsilon))
    logarithm = sum(map(math.log, precisions)) / len(precisions)
    return _brevity(len(words), len(wanted)) * math.exp(logarithm)


def _smoothed(counts: Sequence[tuple[int, int]], epsilon: float | None) -> Iterator[float]:
    halved = 1.0
    for shared, total in counts:
        if not shared and epsilon is None:
            halved /= 2
        yield (shared or epsilon or halved) / max(1, total)


def _brevity(length: int, wanted: int) -> float:
    return 1.0 if length >= wanted else math.exp(1 - wanted / length)


def _counts(words: Words, wanted: Words, n: int) -> tuple[int, int]:
    there, want = Counter(_runs(words, n)), Counter(_runs(wanted, n))
    return (there & want).total(), there.total()


def _runs(words: Words, n: int) -> Iterator[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(n)), strict=False)
