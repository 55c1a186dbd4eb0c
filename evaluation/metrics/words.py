"""Text into words, each way as the metric that counts them was published with."""

import re
import string
from collections.abc import Sequence

from evaluation.metrics.porter import stem

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_ARTICLES_AND = re.compile(r"\b(a|an|the|and)\b")
_MEM0_PUNCTUATION = str.maketrans(".,!?", "    ")

# mteval-v13a, by what it puts spaces around.
_MTEVAL = (
    (re.compile(r"([{-~\[-` -&(-+:-@/])"), r" \1 "),
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)
_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))

# The Penn Treebank's conventions as NLTK applies them to one sentence, in its order.
_TREEBANK = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        ("([«“‘„]|[`]+)", r" \1 "),  # noqa: RUF001 - it is the quote meant
        (r"^\"", "``"),
        (r"(``)", r" \1 "),
        (r"([ (\[{<])(\"|'{2})", r"\1 `` "),
        (r"(?i)(?<!\w)(')(?!(?:re|ve|ll|m|t|s|d|n)\b)(?=\w)", r"\1 "),
        (r"([^.])(\.)([\])}>\"' »”’]*)\s*$", r"\1 \2 \3 "),  # noqa: RUF001 - it is the quote meant
        (r"([:,])([^\d])", r" \1 \2"),
        (r"([:,])$", r" \1 "),
        (r"\.{2,}", r" \g<0> "),
        (r"[;@#$%&]", r" \g<0> "),
        (r"[\u2012-\u2015]", r" \g<0> "),
        (r"([^.])(\.)([\])}>\"']*)\s*$", r"\1 \2\3 "),
        (r"[?!]", r" \g<0> "),
        (r"([^'])' ", r"\1 ' "),
        (r"[*]", r" \g<0> "),
        (r"[\]\[(){}<>]", r" \g<0> "),
        ("--", " -- "),
    )
)
_TREEBANK_ENDS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        ("([»”’])", r" \1 "),  # noqa: RUF001 - it is the quote meant
        ("''", " '' "),
        ('"', " '' "),
        (r"\s+", " "),
        (r"([^' ])('[sS]|'[mM]|'[dD]|') ", r"\1 \2 "),
        (r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) ", r"\1 \2 "),
        (r"(?i)\b(can)(not)\b", r" \1 \2 "),
        (r"(?i)\b(d)('ye)\b", r" \1 \2 "),
        (r"(?i)\b(gim)(me)\b", r" \1 \2 "),
        (r"(?i)\b(gon)(na)\b", r" \1 \2 "),
        (r"(?i)\b(got)(ta)\b", r" \1 \2 "),
        (r"(?i)\b(lem)(me)\b", r" \1 \2 "),
        (r"(?i)\b(more)('n)\b", r" \1 \2 "),
        (r"(?i)\b(wan)(na)(?=\s)", r" \1 \2 "),
        (r"(?i) ('t)(is)\b", r" \1 \2 "),
        (r"(?i) ('t)(was)\b", r" \1 \2 "),
    )
)


def locomo_words(text: str) -> Sequence[str]:
    """Lower case, without punctuation, articles and `and` (LoCoMo's own evaluation)."""
    return _ARTICLES_AND.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()


def locomo_stems(text: str) -> Sequence[str]:
    """`locomo_words`, each cut down to its stem."""
    return [stem(word) for word in locomo_words(text)]


def squad_words(text: str) -> Sequence[str]:
    """Lower case, without punctuation and articles (SQuAD)."""
    return _ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()


def mem0_words(text: str) -> Sequence[str]:
    """Lower case, without `. , ! ?` alone (Mem0 and A-Mem)."""
    return text.lower().translate(_MEM0_PUNCTUATION).split()


def bare_words(text: str) -> Sequence[str]:
    """Lower case, letters and digits alone."""
    return re.findall(r"\w+", text.lower())


def treebank_words(text: str) -> Sequence[str]:
    """Lower case, punctuation as words of its own (what Mem0's BLEU-1 counts).

    The whole text is one sentence, so that a full stop in the middle stays with its word.
    """
    text = text.lower()
    for pattern, replacement in _TREEBANK:
        text = pattern.sub(replacement, text)
    text = f" {text} "
    for pattern, replacement in _TREEBANK_ENDS:
        text = pattern.sub(replacement, text)
    return text.split()


def mteval_words(text: str) -> Sequence[str]:
    """As written, punctuation as words of its own (`13a`, sacrebleu's default)."""
    text = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    text = f" {text} "
    for pattern, replacement in _MTEVAL:
        text = pattern.sub(replacement, text)
    return text.split()
