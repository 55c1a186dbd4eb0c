"""What extraction takes of a hosted model: counted, shown, and kept within the budget."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from memory_server.domain.candidate import Conversation, Extraction
from memory_server.domain.job import Job, is_answered
from memory_server.domain.memory import MemoryType
from memory_server.domain.spending import KEPT, Budget, Usage, day_of, hour_of, next_hour
from memory_server.errors import BudgetSpent, ProviderError
from memory_server.ports.clock import Clock
from memory_server.ports.extractor import Extractor
from memory_server.ports.store import Store

_COUNTED = ("calls", "input_tokens", "output_tokens")

Work = Callable[[Job], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectSpending:
    """What a project took lately, and what it waits for, if its budget is spent."""

    this_hour: Usage
    today: Usage
    """Since midnight, UTC."""
    budget: Budget
    waiting: str | None
    waiting_until: datetime | None

    @property
    def is_told(self) -> bool:
        """Whether there is anything to tell."""
        return bool(self.today) or self.budget.is_bounded

    def document(self) -> dict[str, Any]:
        """Return it as a document, without what there is not."""
        bounds = {"calls_per_hour": self.budget.calls, "tokens_per_hour": self.budget.tokens}
        budget = {name: most for name, most in bounds.items() if most is not None}
        until = self.waiting_until.isoformat() if self.waiting_until else None
        told = {"budget": budget, "waiting": self.waiting, "waiting_until": until}
        return {
            "this_hour": asdict(self.this_hour),
            "today": asdict(self.today),
            **{name: part for name, part in told.items() if part},
        }


class SpendingKeeping:
    """Counts what each project takes, over all servers, and says when that is enough."""

    def __init__(
        self, *, store: Store, clock: Clock, budget: Budget, model: Mapping[str, object]
    ) -> None:
        """Join it; `model` is what readiness says of the extraction model."""
        self.model = model
        self._store = store
        self._clock = clock
        self._budget = budget
        self._by_type: Counter[tuple[MemoryType, str]] = Counter()

    def within_budget(self, work: Work) -> Work:
        """Return the same work, begun only while the budget of the job's project lasts.

        What was begun is read to its end: half of it would be paid for again. A job with whose
        answer the model is done waits for nothing.
        """

        async def worked(job: Job) -> None:
            if self._budget.is_bounded and not is_answered(job):
                await self._check(job.project_id)
            await work(job)

        return worked

    async def _check(self, project_id: str) -> None:
        """Return if a project may take more now, else raise `BudgetSpent`."""
        now = self._clock.now()
        used = await self._store.spending.read(
            project_id, since=hour_of(now), before=next_hour(now)
        )
        waiting = self._budget.spent(used, now)
        if waiting is not None:
            raise BudgetSpent(waiting, until=next_hour(now))

    async def note(self, project_id: str, kind: MemoryType, usage: Usage) -> None:
        """Count what a project took for a type of memory."""
        if not usage:
            return
        for name in _COUNTED:
            self._by_type[kind, name] += getattr(usage, name)
        await self._store.spending.add(project_id, usage, at=self._clock.now())

    async def of_project(self, project_id: str) -> ProjectSpending:
        """Return what a project took lately."""
        now = self._clock.now()
        hour, end = hour_of(now), next_hour(now)
        this_hour = await self._store.spending.read(project_id, since=hour, before=end)
        waiting = self._budget.spent(this_hour, now)
        return ProjectSpending(
            this_hour=this_hour,
            today=await self._store.spending.read(project_id, since=day_of(now), before=end),
            budget=self._budget,
            waiting=waiting,
            waiting_until=end if waiting else None,
        )

    async def report(self, project_id: str) -> Mapping[str, Any]:
        """Return what a project took lately as readiness reports it; empty: nothing today."""
        spending = await self.of_project(project_id)
        return {"spending": spending.document()} if spending.is_told else {}

    async def waiting(self) -> Sequence[tuple[str, str]]:
        """Return the projects whose budget is spent, each with when it goes on."""
        if not self._budget.is_bounded:
            return []
        now = self._clock.now()
        used = await self._store.spending.by_project(since=hour_of(now), before=next_hour(now))
        told = {project: self._budget.spent(usage, now) for project, usage in used.items()}
        return [(project, text) for project, text in told.items() if text is not None]

    def by_type(self) -> Sequence[tuple[MemoryType, Usage]]:
        """Return what this server's extraction took since it began, by type of memory."""
        kinds = dict.fromkeys(kind for kind, _ in self._by_type)
        return [
            (kind, Usage(**{name: self._by_type[kind, name] for name in _COUNTED}))
            for kind in kinds
        ]

    async def forget_old(self) -> None:
        """Remove what was counted long ago."""
        await self._store.spending.forget(before=self._clock.now() - KEPT)


class MeteredExtractor(Extractor):
    """An extractor whose calls are counted, those that failed too."""

    def __init__(self, extractor: Extractor, spending: SpendingKeeping) -> None:
        self._extractor = extractor
        self._spending = spending

    def version(self, kind: MemoryType) -> str:
        return self._extractor.version(kind)

    async def extract(self, conversation: Conversation, kind: MemoryType) -> Extraction:
        project_id = conversation.snapshot.project_id
        try:
            extraction = await self._extractor.extract(conversation, kind)
        except ProviderError as error:
            await self._spending.note(project_id, kind, Usage.of(error.details))
            raise
        await self._spending.note(project_id, kind, extraction.usage)
        return extraction

    async def check(self) -> None:
        await self._extractor.check()

    async def close(self) -> None:
        await self._extractor.close()
