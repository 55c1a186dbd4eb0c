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
        self,
        *,
        min_turns: int,
        idle_since: datetime,
        limit: int,
        skip: int = 0,
        busy_at: int | None = None,
    ) -> Sequence[SessionState]:
        """Return sessions ripe for promotion, the longest waiting first, `skip` of them left out.

        Ripe: at least `min_turns` unpromoted turns, or at least one and no activity after
        `idle_since`. With `busy_at`, sessions whose user has that many unfinished jobs are not
        among them; the user of a session is the first one that was named in it.
        """
        ...

    @abstractmethod
    async def promote(self, snapshot: Snapshot, jobs: Sequence[Job]) -> None:
        """Take the snapshot's turns out of short-term waiting and queue its jobs, all or nothing.

        The snapshot must begin at the first turn that waits in its session and end at one that
        does; otherwise `AlreadyPromoted`, and nothing is written. Numbers whose turns were
        erased are skipped, between runs and within one.
        """
        ...

    @abstractmethod
    async def get(self, project_id: str, snapshot_id: str) -> Snapshot:
        """Return one snapshot, or raise `SnapshotNotFound`."""
        ...

    @abstractmethod
    async def delete_promoted_turns(self, *, limit: int) -> int:
        """Delete turns of snapshots all of whose jobs are done; return how many went.

        Turns of a snapshot with a failed or waiting job stay, so that nothing is lost, and those
        of one with proposals that wait, so that who decides sees what was said. Written in small
        portions, so that no other write waits long.
        """
        ...

    @abstractmethod
    async def expire(self, *, before: datetime, limit: int) -> int:
        """Delete snapshots created before that moment, with their turns and finished jobs.

        A snapshot with a job that is not done stays, and so does one with proposals that wait.
        Done jobs that belong to no snapshot go when they ended before that moment. Long-term
        memories are never touched. Written in small portions, so that no other write waits long.
        Returns how many snapshots and jobs of no snapshot went, `limit` at the most; 0: nothing
        is left to go.
        """
        ...
