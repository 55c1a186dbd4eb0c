"""Questions before their histories: what was said when, what is asked, and what is right."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

from evaluation.datasets.generator.grammar import Tally
from evaluation.datasets.generator.pen import Pen

MOST_DECOYS: Final = 9
"""Sessions that a draft offers in which somebody else says the same of themselves."""

_FIRST_DAY: Final = datetime(2023, 5, 1, tzinfo=UTC)
_DAYS: Final = 60
_WAKING: Final = (7 * 60, 22 * 60)
"""Minutes of a day in which people talk to an assistant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What one session holds besides chat: a fact of the user, or a list the assistant gives."""

    topic: str
    about: Sequence[str] = ()
    """Things of the topic that the chat comes to more often."""
    fact: str = ""
    ask: str = ""
    reply: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One question with what its history must hold, in the order it was said."""

    question: str
    answer: str | int
    asked_on: date
    evidence: Sequence[tuple[datetime, Said]]
    keys: frozenset[str]
    """Of the grammar: nothing else of the history may speak of these."""
    decoys: Sequence[Said] = ()


class Desk:
    """A pen and a calendar: what a draft is written with."""

    def __init__(self, pen: Pen) -> None:
        self.pen = pen
        self.phrases = pen.grammar.phrases
        self._today = _FIRST_DAY + timedelta(days=pen.chance.randrange(_DAYS))

    @property
    def today(self) -> date:
        """The day the question is asked."""
        return self._today.date()

    def moment(self, days_ago: int) -> datetime:
        """Return a moment of that day."""
        return self._today + timedelta(days=-days_ago, minutes=self.pen.chance.randrange(*_WAKING))

    def days_ago(self, least: int, most: int, count: int = 1) -> Sequence[int]:
        """Return that many different days, the earliest first."""
        return sorted(self.pen.chance.sample(range(least, most + 1), count), reverse=True)

    def draft(
        self,
        question: str,
        answer: str | int,
        evidence: Iterable[tuple[datetime, Said]],
        keys: Iterable[str],
        decoys: Sequence[Said] = (),
    ) -> Draft:
        """Put a draft together."""
        return Draft(
            question=question,
            answer=answer,
            asked_on=self.today,
            evidence=sorted(evidence, key=lambda said: said[0]),
            keys=frozenset(keys),
            decoys=decoys,
        )

    def counted(self, tally: Tally, but: Sequence[str]) -> tuple[str, int]:
        """Return what a tally tells next, as it is said, and how much it adds."""
        if not tally.sums:
            return self.pen.another(tally.counts, set(but)), 1
        least, most, step = tally.sums
        amount = least + step * self.pen.chance.randrange((most - least) // step + 1)
        return self.pen.write(tally.unit, amount=str(amount)), amount

    def absent(self, label: str, absent: str) -> str:
        """Return the answer to a question about what was never said."""
        return self.pen.write(self.phrases["absent_answer"], label=label, absent=absent)
