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
_LAUGHED_OFF = re.compile(
    r"^\W*(?:(?:(?:ha ?){2,}|haha+|hehe+|lol|(?:ja ?){2,}|jaja\w*|jeje\w*|ja)[\s,.!]+)+"
    r"(?:no|nope|nah|sí|si|yes|yeah|bueno|ok|okay|en serio|ya en serio|seriously|de verdad)"
    r"[\s,.!:]+(?=\S+ \S)",
    re.IGNORECASE,
)
_LAUGHS = re.compile(
    r"^\W*(?:(?:ha[ -]?){2,}|haha\w*|hehe\w*|lol|lmao|(?:ja[ -]?){2,}|jaja\w*|jeje\w*|very funny"
    r"|good one|nice try|muy graciosa?|qué gracioso|buena esa|buen chiste)(?!\w)|[😂🤣]",
    re.IGNORECASE,
)
_JOKE_MARK = re.compile(r"[😂🤣😜😝🤪🙃🙄]|(?:^|\s)/s\b|;\)")


def is_question(sentence: str) -> bool:
    """Whether the sentence asks."""
    return bool(_QUESTION.search(sentence.strip()))


def is_joke(sentence: str) -> bool:
    """Whether the sentence is marked as not serious, or can be meant as a joke only."""
    kinds = guards()
    return bool(
        kinds.jokes.search(sentence)
        or kinds.figurative.search(sentence)
        or _JOKE_MARK.search(sentence)
    )


def takes_back(sentence: str) -> bool:
    """Whether the sentence says that the one before it was a joke."""
    return bool(guards().jokes.search(sentence)) and len(sentence.split()) <= 6


def was_joking(sentence: str) -> bool:
    """Whether the sentence says in words that what was said before it was none in earnest."""
    return bool(_JOKED.search(sentence))


def denies_joking(sentence: str) -> bool:
    """Whether a turn begins by laughing off what its speaker said before."""
    return bool(guards().denied.search(sentence) or guards().serious.match(sentence))


def is_affirmed(sentence: str) -> bool:
    """Whether a turn begins by standing by what its speaker said before."""
    return bool(guards().affirmed.search(sentence))


def is_amused(answer: str) -> bool:
    """Whether an answer takes what was said for a joke."""
    return bool(guards().amused.search(answer))


def is_absurd(sentence: str) -> bool:
    """Whether the sentence tells what nobody can be, own or live in, of the speaker."""
    kinds = guards()
    found = kinds.absurd.search(sentence)
    if found is None:
        return False
    before = sentence[: found.end()]
    return not (kinds.reported.search(before) or kinds.not_meant.search(before))


def laughs(answer: str) -> bool:
    """Whether an answer laughs out loud."""
    return bool(_LAUGHS.search(answer))


def is_unlikely(sentence: str) -> bool:
    """Whether the sentence tells what is rarely so."""
    return bool(guards().unlikely.search(sentence))


def begins_game(sentence: str) -> bool:
    """Whether the sentence gives out parts to play."""
    return bool(guards().games.search(sentence))


def is_serious(sentence: str) -> bool:
    """Whether the sentence says that what comes now is in earnest again."""
    return bool(guards().serious.search(sentence))


def without_laughter(sentence: str) -> str:
    """Return the sentence without what leads from a joke over to an earnest word."""
    plain = _LAUGHED_OFF.sub("", sentence)
    serious = guards().serious.match(plain)
    return plain[serious.end() :].lstrip(" ,.:;!-") or plain if serious else plain


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
