"""Runs of turns on their way to long-term memory."""

from abc import abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from memory_server.domain.job import Job
from memory_server.domain.snapshot import SessionState, Snapshot


class Snapshots(Protocol):
    """Keeps snapshots, and knows which sessions are ripe for one."""

    @abstractmethod
    async def session(self, project_id: str, session_id: str) -> SessionState | None:
        """Return the state of a session, or None when nothing was recorded in it."""
        ...

    @abstractmethod
    async def waiting(
        self, *, min_turns: int, idle_since: datetime, limit: int
    ) -> Sequence[SessionState]:
        """Return sessions ripe for promotion, the longest waiting first.

        Ripe: at least `min_turns` unpromoted turns, or at least one and no activity after
        `idle_since`.
        """
        ...

    @abstractmethod
    async def promote(self, snapshot: Snapshot, jobs: Sequence[Job]) -> None:
        """Take the snapshot's turns out of short-term waiting and queue its jobs, all or nothing.

        The snapshot must begin right after the session's last promoted turn and end within the
        recorded ones; otherwise `AlreadyPromoted`, and nothing is written.
        """
        ...

    @abstractmethod
    async def get(self, project_id: str, snapshot_id: str) -> Snapshot:
        """Return one snapshot, or raise `SnapshotNotFound`."""
        ...

    @abstractmethod
    async def delete_promoted_turns(self, *, limit: int) -> int:
        """Delete turns of snapshots all of whose jobs are done; return how many went.

        Turns of a snapshot with a failed or waiting job stay, so that nothing is lost.
        """
        ...

    @abstractmethod
    async def expire(self, *, before: datetime, limit: int) -> int:
        """Delete snapshots created before that moment, with their turns and finished jobs.

        A snapshot with a job that is not done stays. Long-term memories are never touched.
        Returns how many snapshots went.
        """
        ...
