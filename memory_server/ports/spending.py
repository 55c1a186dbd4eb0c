"""What projects have taken of models, kept in the store: by all servers, over all restarts."""

from abc import abstractmethod
from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from memory_server.domain.spending import Usage


class Spending(Protocol):
    """Counts by the clock hour."""

    @abstractmethod
    async def add(self, project_id: str, usage: Usage, *, at: datetime) -> None:
        """Count what was taken at that moment; for a project that is removed, nothing."""
        ...

    @abstractmethod
    async def read(self, project_id: str, *, since: datetime, before: datetime) -> Usage:
        """Return what a project took in the hours that begin in that span."""
        ...

    @abstractmethod
    async def by_project(self, *, since: datetime, before: datetime) -> Mapping[str, Usage]:
        """Return what each project took in the hours that begin in that span, if anything."""
        ...

    @abstractmethod
    async def forget(self, *, before: datetime) -> int:
        """Remove the hours that began before a moment; return how many there were."""
        ...
