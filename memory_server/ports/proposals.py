"""Candidates that wait for somebody's decision, and what was decided."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from memory_server.domain.job import Job
from memory_server.domain.memory import MemoryType
from memory_server.domain.proposal import Proposal, ProposalState
from memory_server.domain.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalQuery:
    """Which proposals of a scope: the AND of all that is not None."""

    state: ProposalState | None = None
    type: MemoryType | None = None
    after: str | None = None
    """The id of a proposal that the first one comes after."""
    limit: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalCounts:
    """How many proposals there are."""

    pending: int = 0
    rejected: int = 0
    approved: Mapping[str, int] = field(default_factory=dict)
    """By what their approval did: ADD, UPDATE, REINFORCE, RETRACT, SKIP."""

    @classmethod
    def of(cls, counted: Mapping[tuple[str, str], int]) -> "ProposalCounts":
        """Return what was counted by state and, of those approved, action."""
        of_state = {
            state: sum(number for (one, _), number in counted.items() if one == state)
            for state in ProposalState
        }
        approved = {
            action: number
            for (state, action), number in sorted(counted.items())
            if state == ProposalState.APPROVED
        }
        return cls(
            pending=of_state[ProposalState.PENDING],
            rejected=of_state[ProposalState.REJECTED],
            approved=approved,
        )


class Proposals(Protocol):
    """Keeps proposals. Of a scope only the project and the user count, or that there is none.

    They are approved by `Memories.apply`, together with what that does to memory.
    """

    @abstractmethod
    async def add(
        self, project_id: str, proposals: Sequence[Proposal], *, settling: Job
    ) -> Sequence[str]:
        """Store the proposals whose (project, key) is not known yet; return their ids.

        `settling` is the claimed job that brought them: it becomes done, with its `result`, in
        the same transaction. If its lease was lost, `LeaseLost` is raised and nothing is written.
        """
        ...

    @abstractmethod
    async def get(self, scope: Scope, proposal_id: str) -> Proposal:
        """Return one proposal, or raise `ProposalNotFound`."""
        ...

    @abstractmethod
    async def find(self, scope: Scope, query: ProposalQuery) -> Sequence[Proposal]:
        """Return matching proposals, the one that waits longest first, then by id.

        Raises `ProposalNotFound` for an `after` that the scope does not have.
        """
        ...

    @abstractmethod
    async def put(self, proposal: Proposal) -> None:
        """Store a proposal in a new state.

        The stored one must be pending, at `proposal.revision - 1`, else `ProposalChanged`; raises
        `ProposalNotFound` if it is gone.
        """
        ...

    @abstractmethod
    async def counts(self, project_id: str | None = None) -> ProposalCounts:
        """Count proposals, of one project or of all."""
        ...
