"""What is known of invocations, on whichever server they run."""

from abc import abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from memory_server.domain.execution import Execution, ExecutionStatus


class Executions(Protocol):
    """Executions by id, from their beginning until they are old."""

    @abstractmethod
    async def begin(self, execution: Execution) -> None:
        """Keep a new execution."""
        ...

    @abstractmethod
    async def find(self, execution_id: str) -> Execution | None:
        """Return an execution as it stands now; None if it is not known, or forgotten."""
        ...

    @abstractmethod
    async def finish(
        self,
        execution_id: str,
        status: ExecutionStatus,
        *,
        at: datetime,
        error_code: str | None = None,
    ) -> Execution | None:
        """Note how an execution ended and return it; the first end counts."""
        ...

    @abstractmethod
    async def over(self, execution_ids: Sequence[str]) -> Sequence[str]:
        """Return which of these do not run any more, forgotten ones too."""
        ...

    @abstractmethod
    async def end_abandoned(
        self, *, alive: Sequence[str], started_before: datetime, at: datetime
    ) -> int:
        """Note as failed what runs on none of the servers alive; return how many there were.

        What began later than `started_before` is left alone: its server may not be listed yet.
        """
        ...

    @abstractmethod
    async def forget(self, *, ended_before: datetime) -> int:
        """Forget what ended before a moment; return how many there were."""
        ...
