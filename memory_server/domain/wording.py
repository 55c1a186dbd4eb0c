"""Comparing what two sentences say by their wording alone."""

import re
import unicodedata

_TOKEN = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_NUMBER_WORDS = {
    word: str(value)
    for value, words in enumerate(
        "zero|cero,,two|dos|twice,three|tres,four|cuatro,five|cinco,six|seis,seven|siete,"
        "eight|ocho,nine|nueve,ten|diez,eleven|once,twelve|doce".split(",")
    )
    for word in words.split("|")
    if word
}
"""Without `one` and `uno`, which count nothing in "the one I like"."""
_ENDING = re.compile(r"(?:ing|ed|es|s|er|ly|os|as|ar|er|ir|arme|erme|irme|ando|iendo|[oaeáéíó])$")
_FUNCTION_WORDS = frozenset(
    """
    the a an of to in on at for and or with from by is are was were be been am has have had do does
    did that this it its he she they them their his her him user users i my me we our you your now
    el la los las un una de del al en y o con por para es son era fue ha he que se su sus le les lo
    mi mis me yo usuario dijo said ya
    """.split()
)
NEGATIONS = frozenset(
    """
    no not never none nobody nothing neither nor cannot without
    nunca jamás sin
    """.split()
)
"""Words that deny, in lower case: English and Spanish. English also hangs `n't` on a word."""


def tokens(text: str) -> tuple[str, ...]:
    """Return the words and numbers of a text, folded to lower case and composed form."""
    return tuple(_TOKEN.findall(unicodedata.normalize("NFKC", text).casefold()))


def normalised(text: str) -> str:
    """Return the text without case, punctuation and spacing: equal for equal wording."""
    return " ".join(tokens(text)) or " ".join(text.split())


def numbers(text: str) -> frozenset[str]:
    """Return the numbers a text names, in digits or words, dates and times included."""
    spelled = (_NUMBER_WORDS[token] for token in tokens(text) if token in _NUMBER_WORDS)
    return frozenset((*_NUMBER.findall(text), *spelled))


def is_negated(text: str) -> bool:
    """Whether the sentence denies what it says."""
    return any(token in NEGATIONS or token.endswith(("n't", "n\u2019t")) for token in tokens(text))


def content(text: str) -> frozenset[str]:
    """Return the stems of a text's content words, without what only joins them."""
    return frozenset(stem(token) for token in tokens(text) if token not in _FUNCTION_WORDS)


def stem(word: str) -> str:
    """Return a word without the commonest endings of English and Spanish."""
    short = _ENDING.sub("", word)
    return short if len(short) >= 3 else word


def may_say_the_same(one: str, other: str) -> bool:
    """Whether nothing in the wording tells two near texts apart: numbers, names, or a denial.

    Embeddings put "two cats" beside "three cats" and "likes" beside "does not like"; wording
    decides there.
    """
    return (
        numbers(one) == numbers(other)
        and is_negated(one) == is_negated(other)
        and _names(one) == _names(other)
    )


def _names(text: str) -> frozenset[str]:
    """Return capitalised words that do not begin a sentence."""
    inner = re.findall(r"(?<![.!?:]\s)(?<!^)\b[^\W\d_a-z][\w'\u2019-]+", text)
    return frozenset(word.casefold() for word in inner if word[0].isupper())
