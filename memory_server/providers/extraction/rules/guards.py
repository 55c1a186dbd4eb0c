"""Sentences that must not be taken for statements of fact."""

import re
from collections.abc import Iterable

from memory_server.domain.secret_words import MARK
from memory_server.providers.extraction import orders
from memory_server.providers.extraction.rules.rulebook import guards

_JOKED = re.compile(
    r"\b(?:kidding|joking|jk|a joke|made (?:that|it) up|pulling your leg|(?:es|era) broma|bromeaba"
    r"|de broma|(?:es|era) mentira|(?:es|era|de) coña|me lo inventé|no te lo? creas)\b",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[^\s,;:\"'()«»“”]+?(?=[.!?]*(?:[\s,;:\"'()«»“”]|$))")
_SHORTEST_SECRET = 3
_QUESTION = re.compile(r"\?\s*[\"')\]]*$|^¿")
_GOVERNS = re.compile(
    r"^(?:if|unless|imagine|suppose|according to|as \w+ (?:says|said|puts it)|si|según)\b"
    r"|\b(?:said|says|told \w+|wrote|writes|dijo|dice)[,:]?$",
    re.IGNORECASE,
)
_JOKE_MARK = re.compile(r"[😂🤣😜😝🤪🙃🙄]|(?:^|\s)/s\b|;\)")


def is_question(sentence: str) -> bool:
    """Whether the sentence asks."""
    return bool(_QUESTION.search(sentence.strip()))


def is_joke(sentence: str) -> bool:
    """Whether the sentence is marked as not serious."""
    return bool(guards().jokes.search(sentence) or _JOKE_MARK.search(sentence))


def takes_back(sentence: str) -> bool:
    """Whether the sentence says that the one before it was a joke."""
    return bool(guards().jokes.search(sentence)) and len(sentence.split()) <= 6


def was_joking(sentence: str) -> bool:
    """Whether the sentence says in words that what was said before it was none in earnest."""
    return bool(_JOKED.search(sentence))


def is_task(sentence: str) -> bool:
    """Whether the sentence asks for a text, whose `I` need not be the speaker."""
    return bool(guards().tasks.search(sentence.strip()))


def is_override(text: str) -> bool:
    """Whether the text tries to give orders about memory itself; it is read as data only."""
    return bool(guards().overrides.search(text)) or orders.gives_orders(text)


def is_fiction(sentence: str) -> bool:
    """Whether what follows is a story or a game, whose `I` is somebody made up."""
    return bool(guards().fiction.search(sentence.strip()))


def is_secret(sentence: str) -> bool:
    """Whether the sentence tells a password or the like, which nobody should keep.

    Of one that was taken out the sentence tells nothing.
    """
    return MARK not in sentence and bool(guards().secrets.search(sentence))


def secrets_in(sentences: Iterable[str]) -> frozenset[str]:
    """Return what looks like the secret in sentences that tell one: words with a digit in them."""
    return frozenset(
        word
        for sentence in sentences
        if is_secret(sentence)
        for word in _WORDS.findall(sentence)
        if len(word) >= _SHORTEST_SECRET and any(letter.isdigit() for letter in word)
    )


def is_meant(clause: str) -> bool:
    """Whether the clause states something, rather than supposing, wishing or reporting it."""
    kinds = guards()
    return not any(kind.search(clause) for kind in (kinds.not_meant, kinds.reported, kinds.secrets))


def governs(before: str) -> bool:
    """Whether the clause before makes the next one somebody else's words or a supposition."""
    return bool(_GOVERNS.search(before))


def is_passing(clause: str) -> bool:
    """Whether the clause is about the present day only."""
    return bool(guards().passing.search(clause))
