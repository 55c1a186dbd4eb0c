"""What was not right in a case, in words."""

from collections.abc import Callable, Iterator, Mapping

from pydantic import BaseModel, ConfigDict

from evaluation.extraction.labels import Expected
from evaluation.extraction.matching import Compared, Pair
from evaluation.extraction.records import StoredMemory


class Detail(BaseModel):
    """One thing that was not right."""

    model_config = ConfigDict(frozen=True)

    case: str
    kind: str
    """One of `KINDS`."""
    type: str
    what: str


def details(one: Compared) -> Iterator[Detail]:
    """Yield everything that was not right in a case."""
    for kind, told in _TOLD.items():
        for type, what in told(one):
            yield Detail(case=one.case.id, kind=kind, type=type, what=what)


Told = Iterator[tuple[str, str]]
"""Types and words."""


def _misses(one: Compared) -> Told:
    for pair in one.pairs:
        if pair.found is None:
            yield pair.expected.type, _wanted(pair.expected)


def _false(one: Compared) -> Told:
    for memory in one.false:
        yield memory.type, _shown(memory)


def _made_up(one: Compared) -> Told:
    for made in one.made_up:
        yield made.memory.type, f"{_shown(made.memory)}: {made.kind} {made.words}"


def _actions(one: Compared) -> Told:
    for pair, found in _wrong(one, one.right_actions):
        wanted = ", ".join(pair.expected.actions or ())
        yield found.type, f"{_shown(found)}: {', '.join(found.actions)}, should be {wanted}"


def _times(one: Compared) -> Told:
    for pair, found in _wrong(one, one.right_time):
        when = pair.expected.when
        wanted = "none" if when is None else f"{when.start} to {when.end}"
        said = "none" if found.start is None else f"{found.start} to {found.end}"
        yield found.type, f"{_shown(found)}: {said}, should be {wanted}"


def _history(one: Compared) -> Told:
    for pair, found in _wrong(one, one.right_history):
        was = " / ".join(found.former) or "nothing"
        yield found.type, f"{_shown(found)}: was {was}, should be {_words(pair.expected.was or ())}"


def _as_of(one: Compared) -> Told:
    for answer in one.as_of:
        if not answer.is_right:
            yield "semantic", f"as of {answer.at.isoformat()}: {answer.words}"


def _wrong(
    one: Compared, test: Callable[[Pair], bool | None]
) -> Iterator[tuple[Pair, StoredMemory]]:
    for pair in one.pairs:
        if pair.found is not None and test(pair) is False:
            yield pair, pair.found


def _wanted(expected: Expected) -> str:
    parts = [f"says {_words(expected.says)}"]
    if expected.says_not:
        parts.append(f"not {_words(expected.says_not)}")
    if expected.subject is not None:
        parts.append(f"of {expected.subject}")
    if expected.ended:
        parts.append("taken back")
    return ", ".join(parts)


def _words(words: tuple[str | tuple[str, ...], ...]) -> str:
    return " + ".join(one if isinstance(one, str) else "/".join(one) for one in words)


def _shown(memory: StoredMemory) -> str:
    return f'"{" ".join(memory.text.split())}"'


_TOLD: Mapping[str, Callable[[Compared], Told]] = {
    "misses": _misses,
    "false": _false,
    "made_up": _made_up,
    "actions": _actions,
    "times": _times,
    "history": _history,
    "as_of": _as_of,
}
KINDS = tuple(_TOLD)
