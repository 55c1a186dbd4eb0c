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

    def conditions(self) -> Iterator[tuple[str, str]]:
        """Yield every (field, value) a document must match: scope becomes a predicate only here."""
        yield "project_id", self.project_id
        for field in ("user_id", "agent_id", "session_id", "visibility"):
            value = getattr(self, field)
            if value is not None:
                yield field, str(value)

    def of_user(self) -> "Scope":
        """Return the same owner without session, agent and visibility."""
        return replace(self, session_id=None, agent_id=None, visibility=None)
