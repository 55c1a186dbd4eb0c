"""How much an answer says of what the right one says, by shared words.

Figures of one definition are comparable among answers of about the same length alone: the words
that an explanation adds count against it.
"""

from collections import Counter
from collections.abc import Collection
from functools import lru_cache

from evaluation.metrics.words import locomo_stems, locomo_words, mem0_words, squad_words

MULTI_HOP, OPEN_DOMAIN, ADVERSARIAL = "1", "3", "5"
"""LoCoMo's categories that its F1 treats in a way of their own."""
_DECLINED = ("no information available", "not mentioned")


def locomo_f1(answer: str, gold: str, category: str = "") -> float:
    """F1 as LoCoMo's own evaluation counts it, by category.

    Stemmed words, each as often as it is there. Lists (1) are split at commas and each gold part
    takes the answer's part that fits it best; what follows a semicolon in a gold of 3 is a remark;
    5 is right where the answer says that it was not mentioned.
    """
    if category == MULTI_HOP:
        parts = answer.split(",")
        wanted = gold.split(",")
        return sum(max(_locomo(part, want) for part in parts) for want in wanted) / len(wanted)
    if category == ADVERSARIAL:
        return float(any(words in answer.lower() for words in _DECLINED))
    return _locomo(answer, gold.split(";")[0] if category == OPEN_DOMAIN else gold)


def squad_f1(answer: str, gold: str) -> float:
    """F1 as SQuAD counts it: words as they are, each as often as it is there."""
    return f1(squad_words(answer), squad_words(gold))


def mem0_f1(answer: str, gold: str) -> float:
    """F1 as Mem0 and A-Mem count it: words as they are, each once."""
    return f1(set(mem0_words(answer)), set(mem0_words(gold)))


def contained(text: str, gold: str) -> float:
    """1 where a text says the gold in its own words, in order; case and articles do not count."""
    wanted = _spaced(gold)
    return float(bool(wanted.strip()) and wanted in _spaced(text))


def f1(words: Collection[str], wanted: Collection[str]) -> float:
    """Harmonic mean of the share of words that are wanted and of wanted words that are there."""
    shared = (Counter(words) & Counter(wanted)).total()
    return 2 * shared / (len(words) + len(wanted)) if shared else 0.0


def _locomo(answer: str, gold: str) -> float:
    return f1(locomo_stems(answer), locomo_stems(gold))


@lru_cache(maxsize=16_384)
def _spaced(text: str) -> str:
    """Return the words with a space on both sides; the same texts are found again and again."""
    return f" {' '.join(locomo_words(text))} "
