"""Sentences from templates: every `{slot}` is filled from what is given, from words, or by chance.

`{number:3:19}` is a number from 3 to 18, `{number:10:95:5}` one of every fifth, `{money:...}` one
with commas, `{coined}` a name that exists nowhere; any other slot is a word list's, a second one of
which ends with 2, and with `_start` begins with a capital.
"""

import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import Final, TypeVar

from evaluation.datasets.generator.grammar import Grammar, Topic

_SLOT: Final = re.compile(r"\{([a-z_]+2?)(?::([\d:]+))?\}")
_ONSETS: Final = "b d f g h k l m n p r s t v z br dr fl gr kl pr st tr".split()
_NUCLEI: Final = "a e i o u a e i o u ai ei ou".split()
_CODAS: Final = ("", "", "", "n", "r", "l", "s", "th", "x")
_LISTS: Final[Mapping[str, str]] = {
    "action": "actions",
    "quality": "qualities",
    "rhythm": "rhythms",
    "reason": "reasons",
    "person": "persons",
    "somebody": "somebodies",
}
_FRESH: Final = frozenset({"number", "money", "coined"})
"""Slots that are made anew each time they stand in a sentence."""

_Option = TypeVar("_Option")


class Pen:
    """Writes by one source of chance, so that the same source writes the same."""

    def __init__(self, grammar: Grammar, chance: Random) -> None:
        self.grammar = grammar
        self.chance = chance

    def pick(self, options: Sequence[_Option]) -> _Option:
        """Return one of them."""
        return options[int(self.chance.random() * len(options))]

    def phrase(self, name: str, topic: Topic | None = None, **slots: str) -> str:
        """Write one of the phrases of that name."""
        return self.write(self.pick(self.grammar.phrases[name]), topic, **slots)

    def write(self, template: str, topic: Topic | None = None, **slots: str) -> str:
        """Fill the template's slots; `{thing}` is one of the topic's."""
        known = dict(slots)
        return _SLOT.sub(lambda slot: self._filled(slot[1], slot[2], topic, known), template)

    def another(self, template: str, but: set[str]) -> str:
        """Write the template so that it is none of those; there must be such a way."""
        while (text := self.write(template)) in but:
            pass
        return text

    def _filled(
        self, name: str, numbers: str | None, topic: Topic | None, known: dict[str, str]
    ) -> str:
        if name.endswith("_start"):
            return capitalized(self._filled(name.removesuffix("_start"), numbers, topic, known))
        if name in known:
            return known[name]
        text = self._made(name, numbers, topic, known)
        if name not in _FRESH:
            known[name] = text
        return text

    def _made(
        self, name: str, numbers: str | None, topic: Topic | None, known: Mapping[str, str]
    ) -> str:
        if numbers:
            number = self._number(*map(int, numbers.split(":")))
            return f"{number:,}" if name == "money" else str(number)
        if name == "coined":
            return self._coined()
        first = name.removesuffix("2")
        words = self._words(first, topic)
        other = known.get(first) if first != name else None
        while (text := self.pick(words)) == other:
            pass
        return self.write(text) if "{" in text else text

    def _words(self, name: str, topic: Topic | None) -> Sequence[str]:
        if topic and name == "thing":
            return topic.things
        if topic and name == "goal":
            return topic.goals
        return self.grammar.words[_LISTS.get(name, name)]

    def _number(self, least: int, end: int, step: int = 1) -> int:
        return least + step * int(self.chance.random() * ((end - least + step - 1) // step))

    def _coined(self) -> str:
        syllables = 2 if self.chance.random() < 0.7 else 3
        name = "".join(self.pick(_ONSETS) + self.pick(_NUCLEI) for _ in range(syllables))
        return (name + self.pick(_CODAS)).capitalize()


def capitalized(text: str) -> str:
    """Return the text with its first letter as a capital, the rest as it was."""
    return text[:1].upper() + text[1:]
