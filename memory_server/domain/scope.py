"""Whose memory it is, and who may see it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum


class Visibility(StrEnum):
    """How far a memory may be seen. `shared` is an older spelling of `org`, matched literally."""

    PRIVATE = "private"
    ORG = "org"
    SHARED = "shared"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The limits of one call: the AND of all that is not None, never a union.

    As the scope of a write it is the owner of what is written. The project comes from the
    route or the deployment, never from a body.
    """

    project_id: str
    user_id: str | None = None
    agent_id: str | None = None
    session_id: str | None = None
    visibility: Visibility | None = None
    userless: bool = False
    """Only what belongs to no user. Without it, no `user_id` means everybody."""

    def __post_init__(self) -> None:
        """Refuse a scope that contradicts itself."""
        if self.userless and self.user_id is not None:
            raise ValueError("a scope is of one user or of none: leave user_id or userless out")

    def conditions(self) -> Iterator[tuple[str, str | None]]:
        """Yield every (field, value) a document must match: scope becomes a predicate only here.

        A value of None is a condition too: the field must be empty.
        """
        yield "project_id", self.project_id
        if self.userless:
            yield "user_id", None
        for field in ("user_id", "agent_id", "session_id", "visibility"):
            value = getattr(self, field)
            if value is not None:
                yield field, str(value)

    def of_user(self) -> "Scope":
        """Return the same owner without session, agent and visibility."""
        return replace(self, session_id=None, agent_id=None, visibility=None)
