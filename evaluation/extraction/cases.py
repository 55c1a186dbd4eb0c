"""Conversations labelled with the memories they should leave: their shape, and reading them.

`python -m evaluation.extraction.cases PATH` lists what is wrong with a file or a directory.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Annotated, Final, Literal, Self, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails

from evaluation.errors import InvalidCases
from evaluation.extraction.places import Located, Steps, Unreadable, located
from memory_server.project_config.explain import did_you_mean, listed

CASES: Final = Path(__file__).parent / "cases"
"""The project's own."""
HALVES: Final = ("worked", "held")
OWN: Final = "own"
"""The half of cases that lie in neither."""

Type = Literal["semantic", "episodic", "procedural", "taxonomic"]
Action = Literal["ADD", "UPDATE", "REINFORCE", "RETRACT"]
Language = Literal["en", "es", "de", "pt", "zh"]
Role = Literal["user", "assistant", "system", "tool"]
ROLES: Final[Sequence[str]] = get_args(Role)
TYPES: Final[Sequence[str]] = get_args(Type)
About = Literal[
    "plain", "correction", "retraction", "contradiction", "temporary", "plan", "reinforcement",
    "paraphrase", "polarity", "two_people", "joke", "hypothetical", "quotation", "question",
    "injection", "injected_context", "assistant_words", "system_prompt", "time", "number", "unit",
    "code", "url", "emoji", "name", "negation", "procedure", "term", "episode", "long", "snowball",
    "twin_languages", "metadata", "secret", "small_talk",
]  # fmt: skip


def _moment(value: object) -> object:
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        raise ValueError(f"{value!r} is no moment such as 2026-03-02T09:15:00+01:00") from None
    if moment.tzinfo is None:
        raise ValueError(f"{value!r} has no offset: write it as 2026-03-02T09:15:00+01:00")
    return moment


def _day_or_moment(value: object) -> object:
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        return _moment(value)


Moment = Annotated[datetime, BeforeValidator(_moment)]
Bound = Annotated[datetime | date, BeforeValidator(_day_or_moment)]
"""A day begins at midnight of the offset in which the case is said."""
Text = Annotated[str, Field(min_length=1)]
AnyOf = Annotated[tuple[Text, ...], Field(min_length=1)]
Says = Annotated[tuple[Text | AnyOf, ...], Field(min_length=1)]
"""All of them; of a list in the list any one."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class SaidTurn(_Part):
    """One message."""

    role: Role
    text: Text
    name: Text | None = None
    """Of the speaker, in a conversation between people."""
    date: Moment | None = None
    """Its time, if it is another than its session's."""

    @model_validator(mode="before")
    @classmethod
    def _by_its_role(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        roles = [role for role in ROLES if role in value]
        if len(roles) != 1:
            raise ValueError(f"should have one of {listed(ROLES)}, with the words")
        rest = {key: kept for key, kept in value.items() if key != roles[0]}
        if clash := {"role", "text"} & rest.keys():
            raise ValueError(f"{listed(sorted(clash))} is no key of a turn: take it out")
        return {"role": roles[0], "text": value[roles[0]], **rest}


class SaidSession(_Part):
    """Messages of one sitting."""

    date: Moment | None = None
    """When it was; None where nothing tells."""
    turns: Annotated[tuple[SaidTurn, ...], Field(min_length=1)]


class When(_Part):
    """The event time, `to` exclusive."""

    start: Bound = Field(alias="from")
    end: Bound = Field(alias="to")


class Expected(_Part):
    """One memory that should be there in the end."""

    type: Type
    says: Says
    says_not: tuple[Text, ...] = Field(default=(), alias="not")
    subject: Text | None = None
    """None: the user."""
    when: When | None = None
    """None where `is_timed` says: it has no event time."""
    actions: Annotated[tuple[Action, ...], Field(min_length=1)] | None = None
    was: Says | None = None
    ended: bool = False
    single: bool = False
    negative: bool = False

    @property
    def is_timed(self) -> bool:
        """Whether its event time is labelled, be it that it has none."""
        return "when" in self.model_fields_set

    @model_validator(mode="after")
    def _agree(self) -> Self:
        words = {word.casefold() for word in self.says if isinstance(word, str)}
        if both := sorted(word for word in self.says_not if word.casefold() in words):
            raise ValueError(f"not: {listed(both)} stands in says too: take it out of one")
        actions = self.actions or ()
        if actions and actions[0] != "ADD":
            raise ValueError("actions: a memory begins with ADD: put it first")
        if actions and self.ended and actions[-1] != "RETRACT":
            raise ValueError("actions: what has ended was taken back: end them with RETRACT")
        return self


class Absent(_Part):
    """What no live memory may say."""

    says: Says
    type: Type | None = None
    """None: of any type."""


class AsOf(_Part):
    """What a search as of a moment finds."""

    at: Moment
    says: Says
    says_not: tuple[Text, ...] = Field(default=(), alias="not")


class Case(_Part):
    """The whole life of one user, and what should be remembered of it."""

    id: Annotated[str, Field(pattern=r"^[a-z]{2}(-[a-z0-9]+)+$")]
    language: Language
    about: Annotated[tuple[About, ...], Field(min_length=1)]
    sessions: Annotated[tuple[SaidSession, ...], Field(min_length=1)]
    expected: tuple[Expected, ...] = ()
    also: tuple[Expected, ...] = ()
    absent: tuple[Absent, ...] = ()
    as_of: tuple[AsOf, ...] = ()

    @model_validator(mode="after")
    def _language_first(self) -> Self:
        if self.id[:2] != self.language:
            raise ValueError(f"id: should begin with the language, {self.language}-...")
        return self

    @property
    def turns(self) -> Iterator[SaidTurn]:
        """Yield all that was said, in order."""
        for session in self.sessions:
            yield from session.turns

    @property
    def dates(self) -> Iterator[datetime]:
        """Yield every date that its sessions and turns are given."""
        for session in self.sessions:
            for moment in (session.date, *(turn.date for turn in session.turns)):
                if moment is not None:
                    yield moment

    def moments(self, bound: datetime | date) -> Set[datetime]:
        """Return a bound of an event time as a moment.

        A day begins at midnight of an offset in which the case was said: of any, if there are
        several, as in summer and in winter.
        """
        if isinstance(bound, datetime):
            return {bound}
        zones = {moment.tzinfo for moment in self.dates} or {UTC}
        return {datetime.combine(bound, time(), tzinfo=zone) for zone in zones}


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A case, where it stands, and which half it is of."""

    case: Case
    half: str
    file: Path


_CASE: Final[TypeAdapter[Case]] = TypeAdapter(Case)
_FIELDS: Final[Mapping[str, Sequence[str]]] = {
    "": ("id", "language", "about", "sessions", "expected", "also", "absent", "as_of"),
    "sessions": ("date", "turns"),
    "turns": (*ROLES, "name", "date"),
    "expected": ("type", "says", "not", "subject", "when", "actions", "was", "ended", "single",
                 "negative"),
    "absent": ("says", "type"),
    "as_of": ("at", "says", "not"),
    "when": ("from", "to"),
}  # fmt: skip


def read_cases(path: Path) -> Sequence[Labelled]:
    """Read the cases of a file, or of all `.yaml` files below a directory, by name.

    Raises `InvalidCases`; `details["problems"]` has every fault, each as
    `file:line:column: case ID: key: what is wrong, and the fix`.
    """
    cases, problems = _read(path)
    if not cases and not problems:
        problems = [f"{path}: there is no case in it: name a file, or a directory with .yaml files"]
    if problems:
        raise InvalidCases("\n".join(problems), problems=problems)
    return cases


def _read(path: Path) -> tuple[list[Labelled], list[str]]:
    files = sorted(path.rglob("*.yaml")) if path.is_dir() else [path]
    cases: list[Labelled] = []
    problems: list[str] = []
    known: dict[str, str] = {}
    for file in files:
        for labelled, place in _of_file(file, problems):
            first = known.setdefault(labelled.case.id, place)
            if first != place:
                problems.append(
                    f"{place}: case {labelled.case.id}: id: {first} has it already: "
                    "give each case one of its own"
                )
            cases.append(labelled)
    return cases, problems


def _of_file(file: Path, problems: list[str]) -> Iterator[tuple[Labelled, str]]:
    """Yield the cases of a file with their places; what is wrong is added to the problems."""
    try:
        tree = located(file.read_bytes().decode())
    except OSError as error:
        problems.append(f"{file}: cannot be read: {error.strerror or type(error).__name__}")
        return
    except UnicodeDecodeError:
        problems.append(f"{file}: it is not UTF-8: save it so")
        return
    except Unreadable as error:
        problems.append(f"{file}:{error.place[0]}:{error.place[1]}: {error.message}")
        return
    if not isinstance(tree.value, list):
        problems.append(f"{file}:1:1: a file is a list of cases: begin each with `- id:`")
        return
    half = next((name for name in reversed(file.parts[:-1]) if name in HALVES), OWN)
    problems += [_problem(file, tree, steps, "stands twice: keep one") for steps in tree.repeated]
    for at, value in enumerate(tree.value):
        try:
            case = _CASE.validate_python(value)
        except ValidationError as error:
            problems += dict.fromkeys(_problems(file, tree, at, error))
        else:
            line, column = tree.place((at,))
            yield Labelled(case=case, half=half, file=file), f"{file}:{line}:{column}"


def _problems(file: Path, tree: Located, at: int, error: ValidationError) -> Iterator[str]:
    for fault in error.errors(include_url=False):
        if fault["type"] == "too_short" and fault["input"]:
            continue  # what is in it is wrong, and told for itself
        steps = _written(tree, (at, *fault["loc"]))
        yield _problem(file, tree, steps, _reason(steps, fault))


def _written(tree: Located, steps: Steps) -> Steps:
    """Return the way as it is in the file, without what pydantic adds for each kind of value."""
    kept: list[str | int] = []
    for number, step in enumerate(steps):
        is_last = number == len(steps) - 1
        if (*kept, step) in tree.places or (is_last and isinstance(step, str) and step in _NAMES):
            kept.append(step)
    return tuple(kept)


_NAMES: Final = frozenset(name for names in _FIELDS.values() for name in names)


def _problem(file: Path, tree: Located, steps: Steps, reason: str) -> str:
    line, column = tree.place(steps)
    case = tree.value[steps[0]] if steps else None
    name = case.get("id") if isinstance(case, dict) else None
    whose = f"case {name or steps[0]}" if steps else ""
    key = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps[1:])
    said = (f"{file}:{line}:{column}", whose, key.removeprefix("."), reason)
    return ": ".join(part for part in said if part)


def _reason(steps: Steps, fault: ErrorDetails) -> str:
    kind, value = fault["type"], fault["input"]
    if kind == "missing":
        return "is missing: add it"
    if kind == "extra_forbidden":
        names = [step for step in steps[1:-1] if isinstance(step, str)]
        above = {"also": "expected"}.get(names[-1], names[-1]) if names else ""
        near = did_you_mean(steps[-1], _FIELDS.get(above, ()))
        return f"is no key of it{near or ': take it out'}"
    if kind == "literal_error":
        return f"{value!r} is none of {fault['ctx']['expected']}"
    if kind in _WANTED:
        return f"should be {_WANTED[kind]}"
    return fault["msg"].removeprefix("Value error, ")


_WANTED: Final[Mapping[str, str]] = {
    "string_type": "words, and is not: write it as text",
    "tuple_type": "a list: put it into [ ]",
    "model_type": "a mapping of keys to values",
    "model_attributes_type": "a mapping of keys to values",
    "dict_type": "a mapping of keys to values",
    "too_short": "not empty: name one, or take the key out",
    "string_too_short": "not empty: write the words",
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "string_pattern_mismatch": "lower case words with dashes, the language first: es-mudanza",
}


def main(arguments: Sequence[str]) -> int:
    """List what is wrong with the cases of each path, or how many there are."""
    status = 0
    for name in arguments or [str(CASES)]:
        cases, problems = _read(Path(name))
        for problem in problems:
            sys.stdout.write(f"{problem}\n")
        sys.stdout.write(f"{name}: {len(cases)} cases, {len(problems)} problems\n")
        status = 1 if problems else status
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
