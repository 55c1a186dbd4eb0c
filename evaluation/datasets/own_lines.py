"""What a line of one's own data may say: a conversation with its sessions, or a question."""

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StrictBool


def _moment(value: object) -> object:
    if not isinstance(value, str):
        raise ValueError(  # noqa: TRY004 pydantic reports this one
            f"a date should be text such as '2026-01-31T09:30:00Z', is {value!r}"
        )
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        raise ValueError(
            f"{value!r} should be a date such as '2026-01-31T09:30:00Z' or '2026-01-31'"
        ) from None


def _with_zone(value: datetime) -> datetime:
    return value if value.tzinfo else value.replace(tzinfo=UTC)


Moment = Annotated[datetime, BeforeValidator(_moment), AfterValidator(_with_zone)]
"""ISO 8601; UTC where it names no zone."""

Words = Annotated[str, Field(min_length=1)]


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class OwnTurn(_Line):
    """One message."""

    role: Literal["user", "assistant"]
    text: Words
    id: Words | None = None
    """By which evidence names it; without one it is `SESSION:NUMBER`, counted from 1."""
    speaker: Words | None = None
    """A name; without one it is the role."""
    at: Moment | None = None
    """Without one it is the session's."""


class OwnSession(_Line):
    """Messages of one sitting."""

    turns: Annotated[list[OwnTurn], Field(min_length=1)]
    id: Words | None = None
    """Without one it is its number, counted from 1."""
    at: Moment | None = None


class ConversationLine(_Line):
    """All sessions of one user."""

    conversation: Words
    sessions: Annotated[list[OwnSession], Field(min_length=1)]


class QuestionLine(_Line):
    """One question, and what is right."""

    conversation: Words
    question: Words
    id: Words | None = None
    """Without one it is `CONVERSATION/qNUMBER`, counted from 1 in the order of the lines."""
    category: Words = "own"
    answers: list[str] = []
    rubric: Words | None = None
    evidence: list[str] = []
    """Ids of turns that hold the answer."""
    sessions: list[str] = []
    """Ids of sessions that do, beside those of the evidence."""
    stale: list[str] = []
    """Ids of turns that later ones replaced."""
    abstention: StrictBool = False
    asked_at: Moment | None = None
