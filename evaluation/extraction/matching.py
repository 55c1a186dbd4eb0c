"""What was remembered of a case against what should be: a pure comparison.

Each expected memory is matched with at most one stored one of its type, and so that as many as
can be are matched: with a live one, or where it has `ended` with one that was taken back. It fits
if it says all of `says` and none of `not`, and is about the subject.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from evaluation.extraction.grounding import Grounds
from evaluation.extraction.labels import Case, Expected
from evaluation.extraction.records import CaseRecord, StoredMemory
from evaluation.extraction.wording import folded, has, says

SEMANTIC = "semantic"


@dataclass(frozen=True, slots=True)
class Pair:
    """An expected memory, and the stored one that it was found as."""

    expected: Expected
    found: StoredMemory | None


@dataclass(frozen=True, slots=True)
class MadeUp:
    """A live memory that tells what nobody said, or what must not be remembered."""

    memory: StoredMemory
    kind: str
    """`absent`, `number`, `name` or `word`."""
    words: str
    """Those that it should not tell."""


@dataclass(frozen=True, slots=True)
class AsOfAnswer:
    """Whether a search as of a moment found what held then."""

    at: datetime
    words: str
    is_right: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One case, compared."""

    case: Case
    pairs: Sequence[Pair]
    neutral: Sequence[StoredMemory]
    """Live ones that are right to keep and no loss to miss."""
    false: Sequence[StoredMemory]
    """Live ones that nothing asks for, of types whose memories are labelled whole in the case."""
    live: Sequence[StoredMemory]
    """All live ones, of every type."""
    made_up: Sequence[MadeUp]
    as_of: Sequence[AsOfAnswer]

    def right_actions(self, pair: Pair) -> bool | None:
        """Whether a found memory came to be as it should; None: that is not labelled."""
        if pair.found is None or pair.expected.actions is None:
            return None
        return list(pair.found.actions) == list(pair.expected.actions)

    def right_time(self, pair: Pair) -> bool | None:
        """Whether a found memory has the event time it should; None: that is not labelled."""
        found, wanted = pair.found, pair.expected.when
        if found is None or not pair.expected.is_timed:
            return None
        if wanted is None or found.start is None or found.end is None:
            return wanted is None and found.start is None
        return found.start in self.case.moments(wanted.start) and found.end in self.case.moments(
            wanted.end
        )

    def right_history(self, pair: Pair) -> bool | None:
        """Whether a former version says what it should; None: that is not labelled."""
        if pair.found is None or pair.expected.was is None:
            return None
        return any(says(text, pair.expected.was) for text in pair.found.former)


def compare(case: Case, record: CaseRecord) -> Compared:
    """Compare what a case left with its labels."""
    live = [memory for memory in record.memories if memory.is_live]
    ended = [memory for memory in record.memories if not memory.is_live]
    names = _names(case)
    neutral_ids = {
        memory.id for memory in live if any(_fits(memory, one, names) for one in case.also)
    }
    pairs = _assigned(case.expected, live, ended, names, last=neutral_ids)
    found = {pair.found.id for pair in pairs if pair.found is not None}
    rest = [memory for memory in live if memory.id not in found]
    judged = {SEMANTIC, *(one.type for one in case.expected)}
    return Compared(
        case=case,
        pairs=pairs,
        neutral=[memory for memory in rest if memory.id in neutral_ids],
        false=[one for one in rest if one.id not in neutral_ids and one.type in judged],
        live=live,
        made_up=_made_up(case, live),
        as_of=[
            AsOfAnswer(
                at=asked.at,
                words=" ".join(one if isinstance(one, str) else one[0] for one in asked.says),
                is_right=any(says(text, asked.says) for text in texts)
                and not any(has(text, word) for text in texts for word in asked.says_not),
            )
            for asked, texts in zip(case.as_of, record.as_of, strict=True)
        ],
    )


def _names(case: Case) -> Sequence[str]:
    """Return whom the labels of a case are about, beside the user."""
    every = (one.subject for one in (*case.expected, *case.also))
    return list(dict.fromkeys(name for name in every if name is not None))


def _fits(memory: StoredMemory, expected: Expected, names: Sequence[str]) -> bool:
    if memory.type != expected.type or not says(memory.text, expected.says):
        return False
    if any(has(memory.text, word) for word in expected.says_not):
        return False
    if expected.subject is not None:
        return has(memory.text, expected.subject)
    return not any(folded(memory.text).startswith(folded(name)) for name in names)


def _assigned(
    every: Sequence[Expected],
    live: Sequence[StoredMemory],
    ended: Sequence[StoredMemory],
    names: Sequence[str],
    *,
    last: set[str],
) -> Sequence[Pair]:
    """Match as many as can be, along augmenting paths, trying the likeliest memory first."""
    fitting: list[Sequence[StoredMemory]] = []
    for expected in every:
        among = ended if expected.ended else live
        fits = [memory for memory in among if _fits(memory, expected, names)]
        wanted = list(expected.actions or ())
        fits.sort(key=lambda one: (one.id in last, list(one.actions) != wanted))
        fitting.append(fits)
    held: dict[str, int] = {}
    for number in range(len(every)):
        _place(number, fitting, held, set())
    of_number = {number: memory_id for memory_id, number in held.items()}
    by_id: Mapping[str, StoredMemory] = {memory.id: memory for memory in (*live, *ended)}
    return [
        Pair(expected, by_id[of_number[number]] if number in of_number else None)
        for number, expected in enumerate(every)
    ]


def _place(
    number: int,
    fitting: Sequence[Sequence[StoredMemory]],
    held: dict[str, int],
    tried: set[str],
) -> bool:
    """Give an expected memory one that fits, moving others to what fits them as well."""
    for memory in fitting[number]:
        if memory.id in tried:
            continue
        tried.add(memory.id)
        if memory.id not in held or _place(held[memory.id], fitting, held, tried):
            held[memory.id] = number
            return True
    return False


def _made_up(case: Case, live: Sequence[StoredMemory]) -> Sequence[MadeUp]:
    """Return live memories that meet an `absent` label, and facts that nobody's words bear."""
    grounds = Grounds.of(case)
    found: list[MadeUp] = []
    for memory in live:
        met = next(
            (
                one
                for one in case.absent
                if one.type in (None, memory.type) and says(memory.text, one.says)
            ),
            None,
        )
        if met is not None:
            words = " ".join(one if isinstance(one, str) else "/".join(one) for one in met.says)
            found.append(MadeUp(memory, "absent", words))
        elif memory.type == SEMANTIC:
            strange = grounds.strange_in(memory)
            if strange:
                kind, word = strange[0]
                found.append(MadeUp(memory, kind, word))
    return found
