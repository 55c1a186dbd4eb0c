"""What extraction does with conversations and answers that are not as they should be."""

from collections.abc import Callable, Sequence

import pytest

from memory_server.domain.candidate import Candidate, Conversation, Extraction, Rejected
from memory_server.domain.job import Job, JobKind, JobState
from memory_server.domain.memory import MemoryType
from memory_server.domain.retry import RetryPolicy
from memory_server.ports.memories import MemoryQuery
from memory_server.ports.store import Store
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.services.extraction import MOST_CANDIDATES, MOST_REJECTED, ExtractionOfSnapshots
from memory_server.services.reconciliation import Reconciliation
from memory_server.services.turns import TurnRecording
from memory_server.worker.runner import Runner
from tests.clock import CountingIds, ManualClock
from tests.factories import a_job, a_snapshot
from tests.unit.memory_server.services.conftest import ANA, ScriptedExtractor, a_fact, a_turn

SNAPSHOT = a_snapshot(1, 2, id="snap", project_id="p", session_id="s1", user_id="ana")
JOB = a_job(project_id="p", user_id="ana", payload={"type": "semantic", "snapshot_id": "snap"})


class Rejecting(ScriptedExtractor):
    """Rejects as many items as it is told to."""

    rejects = 0

    async def extract(self, conversation: Conversation, kind: MemoryType) -> Extraction:
        found = await super().extract(conversation, kind)
        rejected = tuple(Rejected(reason="no", raw=f"{n}") for n in range(self.rejects))
        return Extraction(candidates=found.candidates, rejected=rejected)


@pytest.fixture
def extractor() -> Rejecting:
    return Rejecting()


@pytest.fixture
def runner(
    store: Store,
    extractor: Rejecting,
    embedder: HashingEmbedder,
    clock: ManualClock,
    ids: CountingIds,
) -> Runner:
    reconciliation = Reconciliation(store=store, embedder=embedder, clock=clock, ids=ids)
    extraction = ExtractionOfSnapshots(
        store=store, extractor=extractor, reconciliation=reconciliation
    )
    return Runner(
        jobs=store.jobs,
        handlers={JobKind.EXTRACT: extraction.work_off},
        clock=clock,
        worker="w",
        retry=RetryPolicy(),
    )


async def settled(store: Store, runner: Runner, recording: TurnRecording) -> Job:
    """Record two turns, promote them, and return the job that was worked off."""
    for line in ("one", "two"):
        await recording.record(ANA, a_turn(line))
    await store.snapshots.promote(SNAPSHOT, [JOB])
    await runner.run_until_idle()
    [job] = await store.jobs.list("p")
    return job


def facts(*texts: str) -> Callable[[Conversation, MemoryType], Sequence[Candidate]]:
    return lambda conversation, _: [a_fact(text, conversation) for text in texts]


async def test_job_whose_turns_were_erased_is_done(
    store: Store, runner: Runner, recording: TurnRecording, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def none(*_: object, **__: object) -> Sequence[object]:
        return []

    monkeypatch.setattr(store.turns, "run", none)

    job = await settled(store, runner, recording)

    assert (job.state, job.result) == (JobState.DONE, {"outcome": "turns are gone"})


async def test_job_whose_snapshot_was_erased_is_done(store: Store, runner: Runner) -> None:
    await store.jobs.enqueue([JOB])
    await runner.run_until_idle()

    [job] = await store.jobs.list("p")
    assert (job.state, job.result) == (JobState.DONE, {"outcome": "turns are gone"})


async def test_conversation_gives_so_many_memories_and_the_rest_is_shown_as_rejected(
    store: Store, runner: Runner, recording: TurnRecording, extractor: Rejecting
) -> None:
    extractor.script = facts(*(f"Fact number {n}." for n in range(MOST_CANDIDATES + 3)))

    job = await settled(store, runner, recording)

    assert job.result["candidates"] == len(job.result["decisions"]) == MOST_CANDIDATES
    rejected = job.result["rejected"]
    assert [item["raw"] for item in rejected] == [f"Fact number {200 + n}." for n in range(3)]
    assert all("beyond the 200" in item["reason"] for item in rejected)


async def test_rejected_items_beyond_a_number_are_counted_and_not_shown(
    store: Store, runner: Runner, recording: TurnRecording, extractor: Rejecting
) -> None:
    extractor.rejects = MOST_REJECTED + 7

    job = await settled(store, runner, recording)

    assert len(job.result["rejected"]) == MOST_REJECTED + 1
    assert job.result["rejected"][-1]["reason"].startswith("7 more items")


async def test_item_with_half_a_character_loses_neither_itself_nor_the_others(
    store: Store, runner: Runner, recording: TurnRecording, extractor: Rejecting
) -> None:
    extractor.script = facts("Has a cat.", "Says \ud83d all day.")

    job = await settled(store, runner, recording)

    known = await store.memories.find(ANA, MemoryQuery(type=MemoryType.SEMANTIC))
    assert job.state is JobState.DONE
    assert {memory.body.chunk_text for memory in known} == {"Has a cat.", "Says ? all day."}
