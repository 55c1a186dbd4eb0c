"""Budgets of projects, over jobs, hours, servers and restarts."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from memory_server.application import Application
from memory_server.domain.candidate import Conversation, Extraction
from memory_server.domain.job import Job, JobState
from memory_server.domain.memory import MemoryType
from memory_server.domain.spending import Budget, Usage
from memory_server.errors import BudgetSpent, InvalidAnswer
from memory_server.ports.store import Store
from memory_server.services.spending import MeteredExtractor, SpendingKeeping
from tests.clock import ManualClock
from tests.factories import a_job, a_scope, a_snapshot
from tests.unit.memory_server.api.application import an_application
from tests.unit.memory_server.services.conftest import ScriptedExtractor, a_turn

CONVERSATION = Conversation(snapshot=a_snapshot(), turns=())
PROJECT = CONVERSATION.snapshot.project_id
CALL = Usage(calls=1, input_tokens=100, output_tokens=10)
HOUR = timedelta(hours=1)


class PaidExtractor(ScriptedExtractor):
    """Takes a call and some tokens for each answer."""

    async def extract(self, conversation: Conversation, kind: MemoryType) -> Extraction:
        await super().extract(conversation, kind)
        return Extraction(candidates=(), calls=1, input_tokens=100, output_tokens=10)


@pytest.fixture
def paid() -> PaidExtractor:
    return PaidExtractor()


def keeping(store: Store, clock: ManualClock, budget: Budget | None = None) -> SpendingKeeping:
    """Return what one server, or one that was started anew, knows."""
    return SpendingKeeping(store=store, clock=clock, budget=budget or Budget(), model={})


async def tried(spending: SpendingKeeping, job: Job | None = None) -> list[str]:
    """Return which of a project's jobs was begun."""
    begun: list[str] = []

    async def work(job: Job) -> None:
        begun.append(job.id)

    await spending.within_budget(work)(job or a_job(project_id=PROJECT))
    return begun


async def test_calls_that_fail_are_counted_too(
    store: Store, clock: ManualClock, paid: PaidExtractor
) -> None:
    spending = keeping(store, clock)
    metered = MeteredExtractor(paid, spending)
    paid.failures = [InvalidAnswer(calls=2, input_tokens=200, output_tokens=30, raw="prose")]

    with pytest.raises(InvalidAnswer):
        await metered.extract(CONVERSATION, MemoryType.SEMANTIC)
    await metered.extract(CONVERSATION, MemoryType.EPISODIC)

    told = await spending.of_project(PROJECT)
    assert told.this_hour == Usage(calls=3, input_tokens=300, output_tokens=40)
    assert spending.by_type() == [
        (MemoryType.SEMANTIC, Usage(calls=2, input_tokens=200, output_tokens=30)),
        (MemoryType.EPISODIC, CALL),
    ]


async def test_what_takes_no_call_is_not_counted(
    store: Store, clock: ManualClock, extractor: ScriptedExtractor
) -> None:
    spending = keeping(store, clock)

    await MeteredExtractor(extractor, spending).extract(CONVERSATION, MemoryType.SEMANTIC)

    assert spending.by_type() == []
    assert not (await spending.of_project(PROJECT)).is_told


@pytest.mark.parametrize("budget", [Budget(calls=2), Budget(tokens=220)], ids=repr)
async def test_jobs_wait_for_the_next_hour_once_the_budget_is_spent(
    store: Store, clock: ManualClock, budget: Budget
) -> None:
    clock.advance(by=timedelta(minutes=20))
    spending = keeping(store, clock, budget)
    await spending.note(PROJECT, MemoryType.SEMANTIC, CALL)
    assert await tried(spending)

    await spending.note(PROJECT, MemoryType.SEMANTIC, CALL)
    with pytest.raises(
        BudgetSpent, match=r"an hour is spent \(.*\), goes on at 13:00 UTC"
    ) as caught:
        await tried(spending)

    clock.advance(by=timedelta(minutes=40))
    assert caught.value.details["until"] == clock.now()
    assert await tried(spending)


async def test_another_server_and_one_started_anew_know_what_was_spent(
    store: Store, clock: ManualClock
) -> None:
    budget = Budget(calls=1)
    await keeping(store, clock, budget).note(PROJECT, MemoryType.SEMANTIC, CALL)

    with pytest.raises(BudgetSpent):
        await tried(keeping(store, clock, budget))


async def test_projects_have_a_budget_each(store: Store, clock: ManualClock) -> None:
    spending = keeping(store, clock, Budget(calls=1))
    await spending.note(PROJECT, MemoryType.SEMANTIC, CALL)

    assert await tried(spending, a_job(project_id="another"))
    [(project, told)] = await spending.waiting()
    assert project == PROJECT
    assert told.startswith("budget of 1 calls an hour is spent (1 of 1)")


async def test_a_job_whose_answer_is_kept_waits_for_no_budget(
    store: Store, clock: ManualClock
) -> None:
    spending = keeping(store, clock, Budget(calls=1))
    await spending.note(PROJECT, MemoryType.SEMANTIC, CALL)

    assert await tried(spending, a_job(project_id=PROJECT, progress={"extraction": {}}))
    with pytest.raises(BudgetSpent):
        await tried(spending, a_job(project_id=PROJECT, progress={"failed": {"calls": 1}}))


async def test_hours_long_ago_are_forgotten(store: Store, clock: ManualClock) -> None:
    spending = keeping(store, clock)
    began = clock.now()
    await spending.note(PROJECT, MemoryType.SEMANTIC, CALL)
    clock.advance(by=timedelta(days=32))

    await spending.forget_old()

    assert await store.spending.read(PROJECT, since=began, before=clock.now()) == Usage()


@pytest.fixture
async def bounded(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Application]:
    """A server that extracts by rules, with a budget all the same."""
    joined = an_application(
        tmp_path, clock, extraction={"enabled": ["semantic"], "budget": {"calls_per_hour": 1}}
    )
    await joined.store.open()
    yield joined
    await joined.close()


async def test_rules_wait_for_no_budget(bounded: Application, clock: ManualClock) -> None:
    spent = Usage(calls=5)
    await bounded.store.spending.add("shop", spent, at=clock.now())
    await bounded.recording.record(a_scope(), a_turn("I live in Lisbon."))
    await bounded.promotion.flush("shop")

    await bounded.runner.run_until_idle()

    [job] = await bounded.store.jobs.list("shop")
    assert job.state is JobState.DONE
