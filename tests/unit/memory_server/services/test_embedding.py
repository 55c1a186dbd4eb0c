from datetime import timedelta

import pytest

from memory_server.domain.job import Job, JobKind, JobState
from memory_server.domain.memory import Fact
from memory_server.domain.retry import RetryPolicy
from memory_server.errors import InvalidAnswer, ProviderUnavailable, WrongDimension
from memory_server.ports.store import Store
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.services.embedding import LateEmbedding
from memory_server.services.memories import MemoryKeeping, SaveRequest
from memory_server.worker.runner import Runner
from tests.clock import CountingIds, ManualClock
from tests.factories import a_job
from tests.unit.memory_server.services.conftest import ANA

HOUR = timedelta(hours=1)
REFUSED = Fact(label="l", text="what no model takes")


@pytest.fixture
def embedder() -> HashingEmbedder:
    return HashingEmbedder(refuses=[REFUSED.index_text])


@pytest.fixture
def late(
    store: Store, embedder: HashingEmbedder, clock: ManualClock, ids: CountingIds
) -> LateEmbedding:
    return LateEmbedding(store=store, embedder=embedder, clock=clock, ids=ids)


@pytest.fixture
def runner(store: Store, late: LateEmbedding, clock: ManualClock) -> Runner:
    return Runner(
        jobs=store.jobs,
        handlers={JobKind.EMBED: late.work_off},
        clock=clock,
        worker="w",
        retry=RetryPolicy(),
    )


@pytest.fixture
def keeping(
    store: Store, embedder: HashingEmbedder, clock: ManualClock, ids: CountingIds
) -> MemoryKeeping:
    return MemoryKeeping(store=store, embedder=embedder, clock=clock, ids=ids)


async def saved(keeping: MemoryKeeping, embedder: HashingEmbedder, text: str = "a fact") -> str:
    """Save a fact while the embedding provider is away, and return its id."""
    embedder.failure = ProviderUnavailable()
    memory = await keeping.save(ANA, SaveRequest(body=Fact(label="l", text=text)))
    embedder.failure = None
    return memory.id


async def the_job(store: Store) -> Job:
    [job] = await store.jobs.list("p")
    return job


async def test_memory_without_a_vector_gets_one(
    late: LateEmbedding, runner: Runner, keeping: MemoryKeeping, embedder: HashingEmbedder
) -> None:
    memory_id = await saved(keeping, embedder)

    assert await late.sweep("p") == 1
    await runner.run_until_idle()

    assert (await keeping.get(ANA, memory_id)).has_embedding
    assert await late.sweep("p") == 0


async def test_long_outage_is_survived(
    late: LateEmbedding,
    runner: Runner,
    keeping: MemoryKeeping,
    embedder: HashingEmbedder,
    clock: ManualClock,
) -> None:
    memory_id = await saved(keeping, embedder)
    await late.sweep("p")
    embedder.failure = ProviderUnavailable()
    for _ in range(12 * 60):
        await runner.run_until_idle()
        clock.advance(by=timedelta(minutes=1))
    embedder.failure = None

    clock.advance(by=timedelta(minutes=5))
    await runner.run_until_idle()

    assert (await keeping.get(ANA, memory_id)).has_embedding


async def test_job_that_was_given_up_is_queued_again_after_an_hour(
    late: LateEmbedding,
    runner: Runner,
    keeping: MemoryKeeping,
    embedder: HashingEmbedder,
    store: Store,
    clock: ManualClock,
) -> None:
    memory_id = await saved(keeping, embedder)
    await late.sweep("p")
    embedder.failure = WrongDimension()
    await runner.run_until_idle()
    assert (await the_job(store)).state is JobState.FAILED
    embedder.failure = None

    clock.advance(by=HOUR - timedelta(seconds=1))
    assert await late.sweep("p") == 0
    clock.advance(by=timedelta(minutes=5))
    assert await late.sweep("p") == 1
    await runner.run_until_idle()

    assert (await keeping.get(ANA, memory_id)).has_embedding


async def test_failed_job_of_another_kind_is_left_to_its_command(
    late: LateEmbedding, store: Store, clock: ManualClock
) -> None:
    await store.jobs.enqueue([a_job(project_id="p", kind=JobKind.EXTRACT)])
    now = clock.now()
    job = await store.jobs.claim(
        worker="w", kinds=[JobKind.EXTRACT], now=now, lease_until=now + HOUR
    )
    assert job is not None
    await store.jobs.fail(job, code=InvalidAnswer.code, reason="no", now=now)
    clock.advance(by=2 * HOUR)

    assert await late.sweep("p") == 0
    assert (await the_job(store)).state is JobState.FAILED


async def test_text_that_cannot_be_embedded_is_not_tried_again(
    late: LateEmbedding,
    runner: Runner,
    keeping: MemoryKeeping,
    embedder: HashingEmbedder,
    store: Store,
    clock: ManualClock,
) -> None:
    await saved(keeping, embedder, REFUSED.text)
    await late.sweep("p")
    await runner.run_until_idle()
    assert (await the_job(store)).result["outcome"].startswith("cannot be embedded")

    clock.advance(by=2 * HOUR)

    assert await late.sweep("p") == 0
