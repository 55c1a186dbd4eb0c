"""Which vectors answer, and which are being made to take their place."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from memory_server.domain.job import Job
from memory_server.project_config import EmbeddingConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class SpacesInUse:
    """The embedding spaces of a store, with what makes their models again; never a key."""

    active: EmbeddingConfig | None = None
    """Whose vectors answer; None: nobody has said so yet."""
    target: EmbeddingConfig | None = None
    """Whose vectors are being made; None: none are."""
    revision: int = 0
    """Counts the changes of the two."""
    changed_at: datetime | None = None
    vectors: Mapping[str, int] = field(default_factory=dict)
    """How many vectors there are, by the name of their space."""
    refused: int = 0
    """How many texts the target's model cannot embed."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing has a vector."""
        return not self.held

    @property
    def held(self) -> int:
        """How many vectors there are, of all spaces."""
        return sum(self.vectors.values())

    @property
    def done(self) -> int:
        """How many texts the re-embedding has behind it."""
        return 0 if self.target is None else self.vectors.get(self.target.space, 0) + self.refused

    @property
    def total(self) -> int:
        """How many texts it has to do in all, as far as that is known."""
        answering = 0 if self.active is None else self.vectors.get(self.active.space, 0)
        return max(answering, self.done)

    @property
    def outdated(self) -> int:
        """How many vectors are of neither space."""
        kept = {one.space for one in (self.active, self.target) if one is not None}
        return sum(count for name, count in self.vectors.items() if name not in kept)

    def led_to(self, wanted: EmbeddingConfig) -> "SpacesInUse":
        """Return the spaces as they are to be for that model to answer in the end.

        With no vectors it answers at once. Otherwise the one that answers goes on until every
        text has a vector of the wanted one.
        """
        if self.active is None or self.is_empty or wanted.space == self.active.space:
            return replace(self, active=wanted, target=None)
        return replace(self, target=wanted)


def job_of(job: Job, revision: int) -> Job:
    """Return the job that reaches the target of a revision: there is one of each."""
    payload = {**job.payload, "revision": revision}
    return replace(job, key=f"{job.key}:{revision}", payload=payload)


def reached(spaces: SpacesInUse, wanted: EmbeddingConfig) -> bool:
    """Whether that model answers, or will once what is being made is made."""
    named = {one.space for one in (spaces.active, spaces.target) if one is not None}
    return spaces.is_empty or spaces.active is None or wanted.space in named
