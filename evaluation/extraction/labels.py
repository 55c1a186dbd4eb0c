"""Conversations labelled with the memories they should leave: the shape of a case."""

from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import UTC, date, datetime, time
from typing import Annotated, Final, Literal, Self, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from memory_server.project_config.explain import listed

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
