"""Claim, run, settle: the loop that works off jobs."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta

from memory_server.domain.characters import whole
from memory_server.domain.circuit import Admission
from memory_server.domain.job import Job, JobKind
from memory_server.domain.retry import RetryPolicy
from memory_server.errors import (
    BudgetSpent,
    LeaseLost,
    MemoryServerError,
    NotFound,
    StorageError,
)
from memory_server.ports.breaker import Breaker
from memory_server.ports.clock import Clock
from memory_server.ports.jobs import Jobs
from memory_server.services.containment import contained

logger = logging.getLogger(__name__)

Handler = Callable[[Job], Awaitable[None]]
"""Works off a claimed job and settles it."""

LOOKS_AGAIN = timedelta(minutes=5)
"""After how long at the most a job looks whether it still has to wait for a budget."""

STOPPED = "WORKER_STOPPED"
STOPPED_WHY = "the server stopped before the job was done"


class Runner:
    """One worker with several slots. A job is settled exactly once, whatever happens.

    Nothing that goes wrong with a job, or while it is claimed or settled, ends a slot.
    """

    def __init__(
        self,
        *,
        jobs: Jobs,
        handlers: Mapping[JobKind, Handler],
        clock: Clock,
        worker: str,
        retry: RetryPolicy,
        breakers: Mapping[JobKind, Breaker] | None = None,
        slots: int = 2,
        lease: timedelta = timedelta(seconds=60),
        idle_poll: timedelta = timedelta(seconds=1),
    ) -> None:
        """Join it; `breakers` are those of the providers that kinds of jobs cannot do without."""
        self._jobs = jobs
        self._handlers = handlers
        self._clock = clock
        self._worker = worker
        self._retry = retry
        self._breakers = breakers or {}
        self._slots = slots
        self._lease = lease
        self._idle_poll = idle_poll
        self._work_waits = asyncio.Event()
        self._stopping = asyncio.Event()

    def wake(self) -> None:
        """Look for work now rather than at the next poll."""
        self._work_waits.set()

    def stop(self) -> None:
        """Claim nothing more; `run` returns when what is claimed is settled."""
        self._stopping.set()
        self._work_waits.set()

    async def run(self) -> None:
        """Work until stopped."""
        async with asyncio.TaskGroup() as slots:
            for number in range(self._slots):
                slots.create_task(self._slot(f"{self._worker}/{number}"))

    async def run_until_idle(self) -> int:
        """Work off everything that is due now, and return how many jobs that was."""
        worked = 0
        while await self._work_one(f"{self._worker}/0"):
            worked += 1
        return worked

    async def _slot(self, name: str) -> None:
        while not self._stopping.is_set():
            try:
                if await contained(self._work_one(name)):
                    continue
            except StorageError as error:
                # The store is away: nothing can be claimed or settled, and no job is lost.
                logger.warning("the worker waits for the store: %s", error)
            except Exception:  # the job in hand, if any, is handed out again when its lease ends
                logger.exception("a job could not be claimed or settled")
            _end_if_cancelled()
            await self._rest()

    async def _rest(self) -> None:
        """Wait for news or the next poll, whichever is first."""
        self._work_waits.clear()
        if self._stopping.is_set():
            return
        news = asyncio.create_task(self._work_waits.wait())
        poll = asyncio.create_task(self._clock.sleep(self._idle_poll.total_seconds()))
        done, pending = await asyncio.wait({news, poll}, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, *done, return_exceptions=True)

    async def _work_one(self, name: str) -> bool:
        """Work off one job, of a kind whose provider is not left alone just now."""
        admitted = self._admitted()
        try:
            job = await self._claim(name, admitted)
            if job is None:
                return False
            needed = self._breakers.get(job.kind)
            for breaker in [*admitted]:
                if breaker is not needed:
                    breaker.give_back(admitted.pop(breaker))
            await self._work_off(job)
        finally:
            for breaker, admission in admitted.items():
                breaker.give_back(admission)
        return True

    def _admitted(self) -> dict[Breaker, Admission]:
        """Ask every breaker once; those that let nothing through are not among the answers."""
        asked = {breaker: breaker.admit() for breaker in dict.fromkeys(self._breakers.values())}
        return {breaker: admission for breaker, admission in asked.items() if admission}

    async def _claim(self, name: str, admitted: Mapping[Breaker, Admission]) -> Job | None:
        now = self._clock.now()
        needs = {kind: self._breakers.get(kind) for kind in self._handlers}
        kinds = [kind for kind, needed in needs.items() if needed is None or needed in admitted]
        if not kinds:
            return None
        return await self._jobs.claim(
            worker=name, kinds=kinds, now=now, lease_until=now + self._lease
        )

    async def _work_off(self, job: Job) -> None:
        beat = asyncio.create_task(self._heartbeat(job))
        try:
            await self._run(job)
        finally:
            beat.cancel()
            await asyncio.gather(beat, return_exceptions=True)

    async def _run(self, job: Job) -> None:
        try:
            await contained(self._handlers[job.kind](job))
        except LeaseLost:
            logger.warning("job %s went to another worker; its outcome here is dropped", job.id)
        except BudgetSpent as error:
            await self._defer(job, error)
        except MemoryServerError as error:
            await self._after_failure(job, error)
        except asyncio.CancelledError:
            await self._put_back(job)
            raise
        except Exception as error:  # the one edge where a bug becomes a failed job
            logger.exception("job %s failed on a fault of the program", job.id)
            await self._settle_as_failed(job, "INTERNAL", f"{type(error).__name__}: see the log")

    async def _after_failure(self, job: Job, error: MemoryServerError) -> None:
        now = self._clock.now()
        delay = self._retry.delay(error, attempts=job.attempts, age=now - job.created_at)
        reason = whole(str(error))
        if delay is None or isinstance(error, NotFound):
            logger.error("job %s failed after %d attempts: %s", job.id, job.attempts, reason)
            await self._settle_as_failed(job, error.code, reason)
            return
        logger.warning("job %s is tried again in %s: %s", job.id, delay, reason)
        await self._settle(
            job, self._jobs.retry(job, due_at=now + delay, code=error.code, reason=reason)
        )

    async def _defer(self, job: Job, error: BudgetSpent) -> None:
        """Let a job wait that was not tried, for as long as the error says at the most.

        It looks sooner too: a budget may be raised, and another provider may need none.
        """
        due_at = min(error.details["until"], self._clock.now() + LOOKS_AGAIN)
        logger.info("job %s waits: %s", job.id, error)
        await self._settle(
            job, self._jobs.defer(job, due_at=due_at, code=error.code, reason=str(error))
        )

    async def _settle_as_failed(self, job: Job, code: str, reason: str) -> None:
        now = self._clock.now()
        await self._settle(job, self._jobs.fail(job, code=code, reason=reason, now=now))

    async def _put_back(self, job: Job) -> None:
        """Let another worker have a job at once that this one has no time to end."""
        now = self._clock.now()
        try:
            await self._settle(
                job, self._jobs.retry(job, due_at=now, code=STOPPED, reason=STOPPED_WHY)
            )
        except Exception:  # it is handed out again when its lease ends
            logger.exception("job %s could not be put back", job.id)

    async def _settle(self, job: Job, settling: Awaitable[None]) -> None:
        try:
            await settling
        except LeaseLost:
            logger.warning("job %s went to another worker meanwhile", job.id)

    async def _heartbeat(self, job: Job) -> None:
        """Prolong the lease while the job runs; a lost lease is noticed when it is settled."""
        while True:
            await self._clock.sleep(self._lease.total_seconds() / 3)
            try:
                await contained(self._jobs.extend(job, lease_until=self._clock.now() + self._lease))
            except LeaseLost:
                return
            except StorageError as error:
                logger.warning("job %s: the lease could not be prolonged: %s", job.id, error)
            except Exception:  # the next beat may go better
                logger.exception("job %s: the lease could not be prolonged", job.id)


def _end_if_cancelled() -> None:
    """Raise the cancellation that was asked for: a driver may have made another error of it."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
