"""Executions of a store that one process has to itself.

In memory: no other process could ask, and what ran ends with this one.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from datetime import datetime

from memory_server.domain.execution import SERVER_GONE, Execution, ExecutionStatus
from memory_server.domain.scope import Scope
from memory_server.ports.executions import Executions

MOST_KEPT = 10_000
"""The oldest of those that ended are forgotten first; what runs is never forgotten."""


class ProcessExecutions(Executions):
    """Executions in the memory of this process, bounded."""

    def __init__(self, *, most: int = MOST_KEPT) -> None:
        self._most = most
        self._known: OrderedDict[str, Execution] = OrderedDict()

    async def begin(self, execution: Execution) -> None:
        if len(self._known) >= self._most:
            ended = (known.id for known in self._known.values() if known.status.is_over)
            self._known.pop(next(ended, ""), None)
        self._known[execution.id] = execution

    async def find(self, execution_id: str) -> Execution | None:
        return self._known.get(execution_id)

    async def finish(
        self,
        execution_id: str,
        status: ExecutionStatus,
        *,
        at: datetime,
        error_code: str | None = None,
    ) -> Execution | None:
        found = self._known.get(execution_id)
        if found is None:
            return None
        self._known[execution_id] = found.ended(status, at=at, error_code=error_code)
        return self._known[execution_id]

    async def over(self, execution_ids: Sequence[str]) -> Sequence[str]:
        return [id_ for id_ in execution_ids if id_ not in self._known or self._is_over(id_)]

    async def end_abandoned(
        self, *, alive: Sequence[str], started_before: datetime, at: datetime
    ) -> int:
        gone = [
            known
            for known in self._known.values()
            if known.server_id not in alive
            and known.started_at < started_before
            and not known.status.is_over
        ]
        for known in gone:
            ended = known.ended(ExecutionStatus.FAILED, at=at, error_code=SERVER_GONE)
            self._known[known.id] = ended
        return len(gone)

    async def forget(self, *, ended_before: datetime) -> int:
        return self._drop(
            known.id
            for known in [*self._known.values()]
            if known.ended_at is not None and known.ended_at < ended_before
        )

    def erase(self, scope: Scope) -> int:
        """Forget the executions of a user, or of a whole project; return how many.

        What runs of them is stopped by whoever works on it.
        """
        if scope.userless:
            return 0
        return self._drop(
            known.id
            for known in [*self._known.values()]
            if known.project_id == scope.project_id and scope.user_id in (None, known.user_id)
        )

    def _drop(self, execution_ids: Iterator[str]) -> int:
        gone = [self._known.pop(id_) for id_ in execution_ids]
        return len(gone)

    def _is_over(self, execution_id: str) -> bool:
        return self._known[execution_id].status.is_over
