import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from memory_server.domain.candidate import Candidate, Conversation
from memory_server.domain.job import Job, JobKind, JobState
from memory_server.domain.memory import Fact, Memory, MemoryType, Term
from memory_server.domain.promotion import PromotionPolicy
from memory_server.domain.retry import RetryPolicy
from memory_server.domain.scope import Scope
from memory_server.errors import InvalidAnswer, LeaseLost, ProviderUnavailable, StorageUnavailable
from memory_server.ports.memories import MemoryQuery
from memory_server.ports.store import Store
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.services.extraction import ExtractionOfSnapshots
from memory_server.services.memories import MemoryKeeping, SaveRequest
from memory_server.services.promotion import Promotion
from memory_server.services.reconciliation import Reconciliation
from memory_server.services.turns import TurnRecording
from memory_server.worker.runner import Runner
from tests.clock import CountingIds, ManualClock
from tests.unit.memory_server.services.conftest import ANA, BOB, ScriptedExtractor, a_fact, a_turn


class Bench:
    """A server's background half without a server: say something, then work it off."""

    def __init__(
        self,
        store: Store,
        recording: TurnRecording,
        extractor: ScriptedExtractor,
        embedder: HashingEmbedder,
        clock: ManualClock,
        ids: CountingIds,
    ) -> None:
        self.store, self.recording, self.extractor, self.clock = store, recording, extractor, clock
        self.promotion = Promotion(
            store=store,
            embedder=embedder,
            clock=clock,
            ids=ids,
            policy=PromotionPolicy(max_messages=20, stale_after=timedelta(minutes=3)),
            enabled=(MemoryType.SEMANTIC,),
            on_queued=lambda: None,
        )
        self.reconciliation = Reconciliation(store=store, embedder=embedder, clock=clock, ids=ids)
        self.use(self.reconciliation)

    def use(self, reconciliation: Reconciliation) -> None:
        self.extraction = ExtractionOfSnapshots(
            store=self.store, extractor=self.extractor, reconciliation=reconciliation
        )
        self.runner = Runner(
            jobs=self.store.jobs,
            handlers={JobKind.EXTRACT: self.extraction.work_off},
            clock=self.clock,
            worker="w",
            retry=RetryPolicy(),
        )

    async def hear(
        self, session: str, *proposals: dict[str, Any], scope: Scope = ANA
    ) -> Sequence[dict[str, Any]]:
        """Record one turn, propose these facts for it, work it off, and return the decisions."""
        await self.recording.record(scope, a_turn("something", session=session))
        await self.promotion.flush("p", session_id=session)

        def script(conversation: Conversation, _: MemoryType) -> Sequence[Candidate]:
            return [a_fact(conversation=conversation, **proposal) for proposal in proposals]

        self.extractor.script = script
        await self.runner.run_until_idle()
        self.clock.advance(by=timedelta(hours=1))
        return list((await self.job()).result.get("decisions", ()))

    async def hear_late(self, days_ago: Sequence[int]) -> Sequence[dict[str, Any]]:
        """Record one conversation of facts, each said so many days ago; return the decisions."""
        told: dict[str, int] = {}
        for days in days_ago:
            said_at = self.clock.now() - timedelta(days=days)
            turn = a_turn(f"{days}", metadata={"timestamp": said_at.isoformat()})
            told[(await self.recording.record(ANA, turn)).turn.id] = days
        await self.promotion.flush("p")
        self.extractor.script = lambda conversation, _: [
            a_fact(conversation=conversation, turn_ids=(turn_id,), **_flies(days))
            for turn_id, days in told.items()
        ]
        await self.runner.run_until_idle()
        return list((await self.job()).result.get("decisions", ()))

    async def job(self) -> Job:
        return (await self.store.jobs.list("p", limit=1))[0]

    async def live(self) -> Sequence[Memory]:
        return await self.store.memories.find(ANA, MemoryQuery(type=MemoryType.SEMANTIC))


class FailsFirst(Reconciliation):
    """Fails once before it reconciles, as when the store is away for a moment."""

    def __init__(self, reconciliation: Reconciliation) -> None:
        self._then = reconciliation
        self._failed = False

    async def reconcile(self, *args: Any, **kwargs: Any) -> Any:
        if not self._failed:
            self._failed = True
            raise StorageUnavailable
        return await self._then.reconcile(*args, **kwargs)


@pytest.fixture
def keeping(
    store: Store, embedder: HashingEmbedder, clock: ManualClock, ids: CountingIds
) -> MemoryKeeping:
    return MemoryKeeping(store=store, embedder=embedder, clock=clock, ids=ids)


@pytest.fixture
def bench(
    store: Store,
    recording: TurnRecording,
    extractor: ScriptedExtractor,
    embedder: HashingEmbedder,
    clock: ManualClock,
    ids: CountingIds,
) -> Bench:
    return Bench(store, recording, extractor, embedder, clock, ids)


BOSTON: dict[str, Any] = {
    "text": "The user flies out of Boston.",
    "claim": ("home airport", "Boston"),
}
DENVER: dict[str, Any] = {
    "text": "The user flies out of Denver.",
    "claim": ("home airport", "Denver"),
}


def _flies(days: int) -> dict[str, Any]:
    return {"text": f"The user flies out of {days}.", "claim": ("home airport", f"{days}")}


async def test_new_fact_is_added_with_its_evidence(bench: Bench) -> None:
    decisions = await bench.hear("s1", BOSTON)

    [memory] = await bench.live()
    assert [decision["action"] for decision in decisions] == ["ADD"]
    assert memory.body.chunk_text == BOSTON["text"]
    assert (memory.evidence[0].session_id, memory.evidence[0].extractor) == ("s1", "scripted/1")


async def test_same_fact_from_another_session_is_reinforced(bench: Bench) -> None:
    await bench.hear("s1", BOSTON)
    decisions = await bench.hear("s2", BOSTON)

    [memory] = await bench.live()
    assert decisions[0]["action"] == "REINFORCE"
    assert (memory.reinforcement_count, len(memory.evidence), memory.version) == (1, 2, 1)


async def test_newer_value_supersedes_and_history_stays_readable(bench: Bench) -> None:
    await bench.hear("s1", BOSTON)
    before = bench.clock.now()
    decisions = await bench.hear("s2", DENVER)

    [memory] = await bench.live()
    former, latest = await bench.store.memories.history(ANA, memory.id)
    assert (decisions[0]["action"], decisions[0]["previous"]) == ("UPDATE", BOSTON["text"])
    assert (former.body.chunk_text, former.is_latest) == (BOSTON["text"], False)
    assert (former.superseded_by, latest.version, latest.valid_from) == (memory.id, 2, before)


async def test_two_values_in_one_conversation_end_as_in_two(bench: Bench) -> None:
    decisions = await bench.hear("s1", BOSTON, DENVER)

    [memory] = await bench.live()
    assert [decision["action"] for decision in decisions] == ["ADD", "UPDATE"]
    assert memory.body.chunk_text == DENVER["text"]


async def test_retraction_ends_what_is_known(bench: Bench) -> None:
    await bench.hear("s1", BOSTON)
    decisions = await bench.hear("s2", {**BOSTON, "retracts": True})

    assert decisions[0]["action"] == "RETRACT"
    assert await bench.live() == []


async def test_memories_of_others_are_not_neighbours(bench: Bench) -> None:
    await bench.hear("b1", BOSTON, scope=BOB)

    decisions = await bench.hear("s1", DENVER)

    assert decisions[0]["action"] == "ADD"
    [bobs] = await bench.store.memories.find(BOB, MemoryQuery(type=MemoryType.SEMANTIC))
    assert bobs.body.chunk_text == BOSTON["text"]


async def test_memories_of_no_user_meet_only_their_like(bench: Bench) -> None:
    await bench.hear("s1", BOSTON)

    decisions = await bench.hear("n1", DENVER, scope=Scope(project_id="p"))

    assert decisions[0]["action"] == "ADD"


async def test_failing_provider_is_retried_later_and_nothing_is_lost(bench: Bench) -> None:
    bench.extractor.failures = [ProviderUnavailable()]
    await bench.hear("s1", BOSTON)
    assert (await bench.job()).state is JobState.QUEUED

    await bench.runner.run_until_idle()

    assert (await bench.job()).state is JobState.DONE
    assert len(await bench.live()) == 1


async def test_unusable_answer_fails_the_job_at_once_and_is_kept_to_be_seen(bench: Bench) -> None:
    bench.extractor.failures = [InvalidAnswer()]
    await bench.hear("s1", BOSTON)

    job = await bench.job()
    assert (job.state, job.error_code, job.attempts) == (JobState.FAILED, "INVALID_ANSWER", 1)
    assert (await bench.store.jobs.counts("p")).failed == 1


async def test_answer_is_paid_for_once_when_applying_fails(bench: Bench) -> None:
    bench.use(FailsFirst(bench.reconciliation))
    await bench.hear("s1", BOSTON)
    assert (await bench.job()).state is JobState.QUEUED

    await bench.runner.run_until_idle()

    assert bench.extractor.asked == 1
    assert len(await bench.live()) == 1


async def test_worker_that_lost_its_lease_writes_nothing(bench: Bench) -> None:
    await bench.recording.record(ANA, a_turn("something"))
    await bench.promotion.flush("p")
    bench.extractor.script = lambda conversation, _: [a_fact(conversation=conversation, **BOSTON)]
    mine = await _claimed(bench, "slow")
    bench.clock.advance(by=timedelta(seconds=61))
    theirs = await _claimed(bench, "quick")
    assert mine is not None
    assert theirs is not None

    with pytest.raises(LeaseLost):
        await bench.extraction.work_off(mine)

    assert await bench.live() == []


async def test_concurrent_extraction_of_two_sessions_ends_in_one_live_version(
    bench: Bench,
) -> None:
    for session in ("s1", "s2"):
        await bench.recording.record(ANA, a_turn("something", session=session))
    await bench.promotion.flush("p")
    bench.extractor.script = lambda conversation, _: [a_fact(conversation=conversation, **BOSTON)]
    jobs = [await _claimed(bench, worker) for worker in ("w1", "w2")]

    await asyncio.gather(*(bench.extraction.work_off(job) for job in jobs if job))
    await bench.runner.run_until_idle()

    [memory] = await bench.live()
    assert len(memory.evidence) == 2


async def _claimed(bench: Bench, worker: str) -> Job | None:
    now = bench.clock.now()
    return await bench.store.jobs.claim(
        worker=worker, kinds=[JobKind.EXTRACT], now=now, lease_until=now + timedelta(seconds=60)
    )


async def test_fact_changed_by_hand_still_meets_the_next_word_on_its_matter(
    bench: Bench, keeping: MemoryKeeping
) -> None:
    await bench.hear("s1", BOSTON)
    [memory] = await bench.live()
    await keeping.patch(ANA, MemoryType.SEMANTIC, memory.id, {"text": "Flies out of Providence."})

    decisions = await bench.hear("s2", DENVER)

    assert decisions[0]["action"] == "UPDATE"
    assert [one.body.chunk_text for one in await bench.live()] == [DENVER["text"]]
    assert len(await bench.store.memories.history(ANA, memory.id)) == 3


async def test_correction_by_hand_is_not_undone_by_what_was_said_before_it(
    bench: Bench, keeping: MemoryKeeping
) -> None:
    await bench.hear("s1", BOSTON)
    [memory] = await bench.live()
    await bench.recording.record(ANA, a_turn("said before", session="s2"))
    bench.clock.advance(60)
    await keeping.patch(ANA, MemoryType.SEMANTIC, memory.id, {"text": "Flies out of Providence."})
    await bench.promotion.flush("p")
    bench.extractor.script = lambda conversation, _: [a_fact(conversation=conversation, **DENVER)]

    await bench.runner.run_until_idle()

    assert [one.body.chunk_text for one in await bench.live()] == ["Flies out of Providence."]


async def test_saved_fact_that_is_said_again_learns_what_it_is_about(
    bench: Bench, keeping: MemoryKeeping
) -> None:
    body = Fact(label="airport", text=BOSTON["text"])
    saved = await keeping.save(ANA, SaveRequest(body=body, upsert=True))

    first = await bench.hear("s1", BOSTON)
    second = await bench.hear("s2", DENVER)

    assert (first[0]["action"], second[0]["action"]) == ("REINFORCE", "UPDATE")
    assert [one.id for one in await bench.live()] == [saved.id]


async def test_what_was_said_before_takes_its_place_in_the_history(bench: Bench) -> None:
    await bench.hear("s1", {**BOSTON, "event": None})
    early = bench.clock.now() - timedelta(days=30)
    turn = a_turn("older", session="s0", metadata={"timestamp": early.isoformat()})
    await bench.recording.record(ANA, turn)
    await bench.promotion.flush("p")
    bench.extractor.script = lambda conversation, _: [a_fact(conversation=conversation, **DENVER)]

    await bench.runner.run_until_idle()

    [memory] = await bench.live()
    past, latest = await bench.store.memories.history(ANA, memory.id)
    assert (past.body.chunk_text, past.valid_from) == (DENVER["text"], early)
    assert (past.valid_to, latest.body.chunk_text) == (latest.valid_from, BOSTON["text"])


@pytest.mark.parametrize(
    "conversations",
    [
        pytest.param([[0], [30], [20, 10]], id="within one former version"),
        pytest.param([[30], [10, 20]], id="before what the same conversation replaced"),
        pytest.param([[10], [30, 20]], id="within what the same conversation completed"),
    ],
)
async def test_what_one_conversation_tells_late_takes_its_places_in_one_history(
    bench: Bench, conversations: list[list[int]]
) -> None:
    for days_ago in conversations:
        decided = await bench.hear_late(days_ago)
        assert len(decided) == len(days_ago)

    [memory] = await bench.live()
    history = sorted(
        await bench.store.memories.history(ANA, memory.id), key=lambda one: one.valid_from
    )
    said = sorted((days for told in conversations for days in told), reverse=True)
    assert [one.body.chunk_text for one in history] == [_flies(days)["text"] for days in said]
    assert all(one.valid_to == later.valid_from for one, later in pairwise(history))


async def test_term_of_the_project_is_not_rewritten_by_a_private_conversation(
    bench: Bench, keeping: MemoryKeeping
) -> None:
    term = Term(domain="ops", term="Falcon", definition="our billing service")
    await keeping.save(ANA, SaveRequest(body=term))

    decisions = await bench.hear(
        "s1", {"text": "", "body": replace(term, definition="what I call my car"), "claim": None}
    )

    assert decisions[0]["action"] == "SKIP"


async def test_deleted_memory_does_not_come_back_from_an_older_conversation(
    bench: Bench, keeping: MemoryKeeping
) -> None:
    await bench.hear("s1", BOSTON)
    [memory] = await bench.live()
    await bench.recording.record(ANA, a_turn("said before", session="s2"))
    bench.clock.advance(60)
    await keeping.delete(ANA, MemoryType.SEMANTIC, memory.id)
    await bench.promotion.flush("p")

    await bench.runner.run_until_idle()

    assert await bench.live() == []
