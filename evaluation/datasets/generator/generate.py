"""Items of a variant, one after the other."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, time
from itertools import cycle, islice
from random import Random
from typing import Any, Final

from evaluation.datasets.errors import UnknownChoice
from evaluation.datasets.generator.drafts import Desk
from evaluation.datasets.generator.filling import Fillings
from evaluation.datasets.generator.grammar import read_grammar
from evaluation.datasets.generator.history import write_history
from evaluation.datasets.generator.kinds import DRAFTING, SHARES
from evaluation.datasets.generator.pen import Pen
from evaluation.datasets.generator.variants import VARIANTS

GRAMMAR_VERSION: Final = 1
"""Raised when the same seed gives other items than before."""

_WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_ASKED_AT: Final = 23
"""The hour, after all sessions of the day."""


def generate(variant: str, questions: int, seed: int) -> Iterator[dict[str, Any]]:
    """Make that many items of LongMemEval's schema, each with a history of its own.

    The same seed gives the same items; the first n of more questions are the n of fewer; a question
    is the same in every variant of a language, only its history is longer. Raises UnknownChoice.
    """
    if variant not in VARIANTS:
        raise UnknownChoice(f"No variant is called {variant!r}; there are {', '.join(VARIANTS)}")
    if questions < 1:
        raise UnknownChoice(f"questions is {questions} and should be at least 1")
    return _items(variant, questions, seed)


def _items(variant: str, questions: int, seed: int) -> Iterator[dict[str, Any]]:
    size = VARIANTS[variant]
    grammar = read_grammar(size.language)
    base = f"{GRAMMAR_VERSION}/{size.language}/{seed}"
    fillings = Fillings(grammar, size.length, f"{base}/{variant}/filling")
    for number, (kind, is_abstention) in enumerate(islice(cycle(_plan(base)), questions)):
        chance = Random(f"{base}/question/{number}")  # noqa: S311 no secret
        draft = DRAFTING[kind](Desk(Pen(grammar, chance)), is_abstention=is_abstention)
        name = f"{chance.getrandbits(32):08x}" + ("_abs" if is_abstention else "")
        asked_at = datetime.combine(
            draft.asked_on, time(_ASKED_AT, chance.randrange(60), tzinfo=UTC)
        )
        chance = Random(f"{base}/{variant}/history/{number}")  # noqa: S311 no secret
        sessions = write_history(draft, size, fillings, grammar, chance)
        yield {
            "question_id": name,
            "question_type": kind,
            "question": draft.question,
            "answer": draft.answer,
            "question_date": _written(asked_at),
            "haystack_dates": [_written(session.at) for session in sessions],
            "haystack_session_ids": [session.id for session in sessions],
            "haystack_sessions": [session.messages for session in sessions],
            "answer_session_ids": sorted(s.id for s in sessions if s.is_evidence),
            "synthetic": True,
            "variant": variant,
        }


def _plan(base: str) -> Sequence[tuple[str, bool]]:
    """Return the types of 500 questions, so mixed that any first part has nearly their shares."""
    chance = Random(f"{base}/plan")  # noqa: S311 no secret
    placed = []
    for kind, _, answered, absent in SHARES:
        for is_abstention, count in ((False, answered), (True, absent)):
            shift = chance.random()
            placed += [((index + shift) / count, kind, is_abstention) for index in range(count)]
    return [(kind, is_abstention) for _, kind, is_abstention in sorted(placed)]


def _written(moment: datetime) -> str:
    """Write a moment as the schema does, whatever the machine's language."""
    return f"{moment:%Y/%m/%d} ({_WEEKDAYS[moment.weekday()]}) {moment:%H:%M}"
