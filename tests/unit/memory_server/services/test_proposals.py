import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from memory_server.domain.candidate import Candidate, Conversation
from memory_server.domain.job import Job, JobKind, JobState
from memory_server.domain.memory import Memory, MemoryType
from memory_server.domain.promotion import PromotionPolicy
from memory_server.domain.proposal import Proposal, ProposalState
from memory_server.domain.reconciliation import Action
from memory_server.domain.retry import RetryPolicy
from memory_server.errors import ProposalChanged, ProposalDecided, ProposalNotFound
from memory_server.ports.memories import MemoryQuery
from memory_server.ports.proposals import ProposalQuery
from memory_server.ports.store import Store
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.services.extraction import ExtractionOfSnapshots
from memory_server.services.promotion import Promotion
from memory_server.services.proposals import Proposing, Reviewing
from memory_server.services.reconciliation import Reconciliation
from memory_server.services.turns import TurnRecording
from memory_server.worker.runner import Runner
from tests.clock import START, CountingIds, ManualClock
from tests.factories import a_job
from tests.unit.memory_server.services.conftest import ANA, BOB, ScriptedExtractor, a_fact, a_turn

OSLO = {"text": "The user lives in Oslo", "claim": ("residence", "Oslo")}
BERGEN = {"text": "The user lives in Bergen", "claim": ("residence", "Bergen")}
CELLO = {"text": "The user plays the cello"}


class Desk:
    """A server on which what is extracted waits for a decision, without a server."""

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
        reconciliation = Reconciliation(store=store, embedder=embedder, clock=clock, ids=ids)
        extraction = ExtractionOfSnapshots(
            store=store,
            extractor=extractor,
            reconciliation=reconciliation,
            proposing=Proposing(store=store, clock=clock, ids=ids),
        )
        self.runner = Runner(
            jobs=store.jobs,
            handlers={JobKind.EXTRACT: extraction.work_off},
            clock=clock,
            worker="w",
            retry=RetryPolicy(),
        )
        self.reviewing = Reviewing(
            store=store, reconciliation=reconciliation, clock=clock, approval="manual"
        )

    async def hear(self, *proposals: dict[str, Any]) -> Sequence[Proposal]:
        """Record a turn from which these facts are extracted; return all that waits then."""
        await self.recording.record(ANA, a_turn("something"))
        await self.promotion.flush("p")

        def script(conversation: Conversation, _: MemoryType) -> Sequence[Candidate]:
            return [a_fact(conversation=conversation, **proposal) for proposal in proposals]

        self.extractor.script = script
        await self.runner.run_until_idle()
        self.clock.advance(by=timedelta(hours=1))
        found = await self.reviewing.find(ANA, ProposalQuery(state=ProposalState.PENDING))
        return [one.proposal for one in found]

    async def approve(self, proposal: Proposal, by: str = "owner") -> Proposal:
        return await self.reviewing.approve(ANA, proposal.id, by=by)

    async def live(self) -> Sequence[Memory]:
        return await self.store.memories.find(ANA, MemoryQuery(type=MemoryType.SEMANTIC))

    async def texts(self) -> list[str]:
        return [memory.body.chunk_text for memory in await self.live()]


@pytest.fixture
def desk(
    store: Store,
    recording: TurnRecording,
    extractor: ScriptedExtractor,
    embedder: HashingEmbedder,
    clock: ManualClock,
    ids: CountingIds,
) -> Desk:
    return Desk(store, recording, extractor, embedder, clock, ids)


async def test_what_is_extracted_waits_and_is_not_remembered(desk: Desk) -> None:
    (proposal,) = await desk.hear(OSLO)

    assert not await desk.texts()
    assert proposal.candidate.body.chunk_text == OSLO["text"]
    assert (proposal.user_id, proposal.session_id, proposal.extractor[:8]) == (
        "ana",
        "s1",
        "scripted",
    )
    (job,) = await desk.store.jobs.list("p")
    assert (job.state, job.result["proposed"]) == (JobState.DONE, 1)


async def test_approving_remembers_it_and_tells_who_approved(desk: Desk) -> None:
    (proposal,) = await desk.hear(OSLO)

    decided = await desk.approve(proposal, by="person ben")

    (memory,) = await desk.live()
    (outcome,) = decided.outcomes
    assert (outcome.action, outcome.memory_id) == (Action.ADD, memory.id)
    (evidence,) = memory.evidence
    assert evidence.reason.endswith("; approved by person ben")
    assert evidence.event_time == proposal.said_at


async def test_what_approving_would_do_is_told_before_and_changes_nothing(desk: Desk) -> None:
    (first,) = await desk.hear(OSLO)
    await desk.approve(first)
    (second,) = await desk.hear(BERGEN)

    shown = await desk.reviewing.get(ANA, second.id)

    (foreseen,) = shown.foreseen
    assert (foreseen.action, foreseen.previous) == (Action.UPDATE, OSLO["text"])
    assert [turn.content for turn in shown.turns.values()] == ["something"]
    assert await desk.texts() == [OSLO["text"]]
    (outcome,) = (await desk.approve(second)).outcomes
    assert (outcome.action, outcome.memory_id) == (Action.UPDATE, foreseen.memory_id)
    assert not (await desk.reviewing.get(ANA, second.id)).foreseen


async def test_an_old_statement_that_is_approved_late_completes_history(desk: Desk) -> None:
    old, new = [(await desk.hear(one))[-1] for one in (OSLO, BERGEN)]
    await desk.approve(new)
    (known,) = await desk.live()

    (outcome,) = (await desk.approve(old)).outcomes

    assert outcome.action is Action.ADD
    assert await desk.texts() == [BERGEN["text"]]
    versions = await desk.store.memories.history(ANA, known.id)
    assert [one.body.chunk_text for one in versions] == [OSLO["text"], BERGEN["text"]]


async def test_the_same_from_two_conversations_waits_twice_and_is_remembered_once(
    desk: Desk,
) -> None:
    await desk.hear(OSLO)
    first, second = await desk.hear(OSLO)

    actions = [(await desk.approve(one)).action for one in (first, second)]

    assert actions == [Action.ADD, Action.REINFORCE]
    (memory,) = await desk.live()
    assert len(memory.evidence) == 2


async def test_approved_twice_it_is_remembered_once(desk: Desk) -> None:
    (proposal,) = await desk.hear(CELLO)

    first = await desk.approve(proposal)
    again = await desk.approve(proposal, by="person ben")

    assert again == first
    assert (await desk.live())[0].reinforcement_count == 0


async def test_approved_by_two_at_once_it_is_remembered_once(desk: Desk) -> None:
    (proposal,) = await desk.hear(CELLO)

    one, other = await asyncio.gather(
        desk.approve(proposal, by="person ana"), desk.approve(proposal, by="person ben")
    )

    assert one == other
    assert len(await desk.live()) == 1


async def test_rejected_and_approved_at_once_one_of_the_two_holds(desk: Desk) -> None:
    (proposal,) = await desk.hear(CELLO)

    results = await asyncio.gather(
        desk.approve(proposal),
        desk.reviewing.reject(ANA, proposal.id, by="ben"),
        return_exceptions=True,
    )

    (refused,) = (one for one in results if isinstance(one, Exception))
    assert isinstance(refused, ProposalDecided)
    state = (await desk.reviewing.get(ANA, proposal.id)).proposal.state
    assert len(await desk.live()) == (state is ProposalState.APPROVED)


async def test_what_is_rejected_is_kept_with_the_reason_and_does_not_come_back(desk: Desk) -> None:
    (proposal,) = await desk.hear(CELLO)
    await desk.reviewing.reject(ANA, proposal.id, by="owner", reason="it was a joke")
    (job,) = await desk.store.jobs.list("p")
    assert job.state is JobState.DONE

    proposing = Proposing(store=desk.store, clock=desk.clock, ids=CountingIds())
    conversation = Conversation(
        snapshot=await desk.store.snapshots.get("p", proposal.snapshot_id),
        turns=await desk.store.turns.get_many("p", list(proposal.candidate.turn_ids)),
    )
    again = await _a_job(desk.store)
    await proposing.propose(conversation, [proposal.candidate], extractor="other/2", settling=again)

    (kept,) = await desk.reviewing.find(ANA, ProposalQuery())
    assert (kept.proposal.reason, kept.proposal.state) == ("it was a joke", ProposalState.REJECTED)
    assert not await desk.texts()
    with pytest.raises(ProposalDecided):
        await desk.approve(proposal)


async def test_an_edited_one_is_remembered_in_the_new_words_and_says_whose_they_are(
    desk: Desk,
) -> None:
    (proposal,) = await desk.hear(OSLO)

    words = {"text": "The user lives in Moss"}
    changed = await desk.reviewing.edit(ANA, proposal.id, words, by="person ben")
    decided = await desk.approve(proposal)

    (memory,) = await desk.live()
    assert memory.body.chunk_text == words["text"]
    assert memory.evidence[0].reason.endswith("in the words of person ben, approved by owner")
    assert changed.original == decided.original == proposal.candidate


async def test_nothing_is_decided_on_words_that_the_caller_has_not_seen(desk: Desk) -> None:
    (proposal,) = await desk.hear(OSLO)
    words = {"text": "The user lives in Moss"}
    await desk.reviewing.edit(ANA, proposal.id, words, by="ben", revision=1)

    with pytest.raises(ProposalChanged, match="revision 2"):
        await desk.reviewing.approve(ANA, proposal.id, by="owner", revision=1)

    assert not await desk.texts()
    await desk.reviewing.approve(ANA, proposal.id, by="owner", revision=2)


async def test_several_are_decided_each_on_its_own(desk: Desk) -> None:
    cello, oslo = await desk.hear(CELLO, OSLO)
    await desk.reviewing.reject(ANA, cello.id, by="owner")

    decided = await desk.reviewing.approve_all(ANA, [cello.id, "gone", oslo.id], by="owner")

    assert [one.id for one in decided.proposals] == [oslo.id]
    assert {one: error.code for one, error in decided.failed.items()} == {
        cello.id: "PROPOSAL_DECIDED",
        "gone": "PROPOSAL_NOT_FOUND",
    }


async def test_nobody_else_sees_or_decides_them(desk: Desk) -> None:
    (proposal,) = await desk.hear(CELLO)

    assert not await desk.reviewing.find(BOB, ProposalQuery())
    for decide in (desk.reviewing.approve, desk.reviewing.reject):
        with pytest.raises(ProposalNotFound):
            await decide(BOB, proposal.id, by="person bob")


async def test_what_is_taken_back_is_ended_once_that_is_approved(desk: Desk) -> None:
    (first,) = await desk.hear(OSLO)
    await desk.approve(first)

    (second,) = await desk.hear({**OSLO, "retracts": True})
    assert await desk.texts() == [OSLO["text"]]

    assert (await desk.approve(second)).action is Action.RETRACT
    assert not await desk.texts()


async def _a_job(store: Store) -> Job:
    """Return another job for Ana that a worker has."""
    await store.jobs.enqueue([a_job(project_id="p")])
    day = timedelta(days=1)
    job = await store.jobs.claim(
        worker="w", kinds=[JobKind.EXTRACT], now=START + day, lease_until=START + 2 * day
    )
    assert job is not None
    return job
