"""What every store promises of candidates that wait for a decision."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memory_server.domain.archive import ArchivedProposal, Contents, Outcome
from memory_server.domain.candidate import Candidate
from memory_server.domain.changes import Outcome as Became
from memory_server.domain.job import Job, JobKind, JobState
from memory_server.domain.memory import Claim, EventTime, MemoryType
from memory_server.domain.proposal import Proposal, ProposalState, approved, edited, rejected
from memory_server.domain.reconciliation import Action
from memory_server.errors import (
    DuplicateMemory,
    LeaseLost,
    ProjectNotEmpty,
    ProjectNotFound,
    ProposalChanged,
    ProposalNotFound,
)
from memory_server.ports.memories import Add, MemoryQuery
from memory_server.ports.proposals import ProposalCounts, ProposalQuery
from memory_server.ports.store import Store
from tests.clock import START
from tests.factories import (
    PROJECT,
    SESSION,
    a_job,
    a_memory,
    a_procedure,
    a_project,
    a_proposal,
    a_scope,
    a_snapshot,
    a_turn,
)

LATER = START + timedelta(hours=1)
EVERYTHING = ProposalQuery()
ADDED = Became(action=Action.ADD, type=MemoryType.SEMANTIC, text="Ana", reason="new")


async def a_claimed_job(store: Store, **changes: Any) -> Job:
    """Return a job that a worker has."""
    await store.jobs.enqueue([a_job(**changes)])
    job = await store.jobs.claim(worker="w", kinds=[JobKind.EXTRACT], now=START, lease_until=LATER)
    assert job is not None
    return job


async def propose(store: Store, *proposals: Proposal) -> Sequence[str]:
    """Store proposals as a job brings them; return the ids of the new ones."""
    project_id = proposals[0].project_id
    job = await a_claimed_job(store, project_id=project_id)
    return await store.proposals.add(project_id, proposals, settling=job)


async def shown(store: Store, **asked: Any) -> list[str]:
    """Return the ids of what a query finds among Ana's."""
    return [one.id for one in await store.proposals.find(a_scope(), ProposalQuery(**asked))]


def elaborate() -> Proposal:
    """Return a proposal that has everything a proposal may have."""
    candidate = Candidate(
        body=a_procedure(
            steps=({"a.b": 2**70, "$say": "press\0 refund"},), tags=("orders",), resources=(None,)
        ),
        turn_ids=("turn-1", "turn-2"),
        claim=Claim(subject="user", attribute="smokes", value="yes", exclusive=True),
        corrects=Claim(subject="user", attribute="smokes", value="no"),
        event_time=EventTime(start=START, end=LATER, words="yesterday"),
        confidence=0.25,
    )
    waiting = a_proposal(candidate=candidate, agent_id="planner", said_at=LATER)
    changed = edited(waiting, {"content": "Ask first 🙂"}, by="person ben", now=LATER)
    outcomes = [ADDED, replace(ADDED, action=Action.UPDATE, memory_id="m", previous="was")]
    return replace(
        approved(changed, outcomes, by="owner", now=LATER, reason="it is so"), revision=1
    )


class ProposalsContract:
    """A subclass provides the fixture `store`, open and empty."""

    async def test_what_is_stored_comes_back_exactly(self, store: Store) -> None:
        whole, plain = elaborate(), a_proposal(user_id=None)

        assert await propose(store, whole, plain) == [whole.id, plain.id]

        assert await store.proposals.get(a_scope(), whole.id) == whole
        nobody = a_scope(user_id=None, userless=True)
        assert await store.proposals.get(nobody, plain.id) == plain

    async def test_storing_settles_the_job_and_is_not_done_without_it(self, store: Store) -> None:
        job = await a_claimed_job(store)
        first, second = a_proposal(), a_proposal()

        settling = replace(job, result={"proposed": 1})
        await store.proposals.add(PROJECT, [first], settling=settling)
        with pytest.raises(LeaseLost):
            await store.proposals.add(PROJECT, [second], settling=settling)

        assert await shown(store) == [first.id]
        (settled,) = await store.jobs.list(PROJECT)
        assert (settled.state, settled.result) == (JobState.DONE, {"proposed": 1})

    async def test_nothing_to_propose_settles_the_job_too(self, store: Store) -> None:
        job = await a_claimed_job(store)

        assert not await store.proposals.add(PROJECT, [], settling=job)

        assert [one.state for one in await store.jobs.list(PROJECT)] == [JobState.DONE]

    async def test_a_key_that_is_known_is_not_stored_again_whatever_was_decided(
        self, store: Store
    ) -> None:
        known = a_proposal()
        await propose(store, known)
        await store.proposals.put(rejected(known, by="owner", now=LATER))

        again, new = a_proposal(key=known.key), a_proposal()
        added = await propose(store, again, new, a_proposal(key=new.key))

        assert added == [new.id]
        assert await shown(store) == [known.id, new.id]

    async def test_a_key_is_a_projects_own(self, store: Store) -> None:
        mine = a_proposal()
        await propose(store, mine)

        theirs = a_proposal(project_id="bank", key=mine.key)
        assert await propose(store, theirs) == [theirs.id]

    async def test_the_same_brought_by_two_at_once_is_stored_once(self, store: Store) -> None:
        jobs = [await a_claimed_job(store, user_id=name) for name in ("ana", "bob")]
        twins = [a_proposal(key="same") for _ in jobs]

        added = await asyncio.gather(
            *(
                store.proposals.add(PROJECT, [one], settling=job)
                for one, job in zip(twins, jobs, strict=True)
            )
        )

        assert sorted(map(len, added)) == [0, 1]
        assert len(await shown(store)) == 1

    async def test_those_that_wait_longest_come_first_a_page_at_a_time(self, store: Store) -> None:
        late = a_proposal(id="a", created_at=LATER)
        pair = [a_proposal(id=name) for name in ("c", "b")]
        await propose(store, late, *pair)

        assert await shown(store) == ["b", "c", "a"]
        assert await shown(store, limit=1) == ["b"]
        assert await shown(store, after="b") == ["c", "a"]
        assert await shown(store, after="a") == []
        assert await shown(store, limit=0) == []
        with pytest.raises(ProposalNotFound):
            await shown(store, after="gone")

    async def test_they_are_found_by_state_type_and_user(self, store: Store) -> None:
        procedure = Candidate(body=a_procedure(), turn_ids=())
        how, no = a_proposal(candidate=procedure), a_proposal()
        bobs, nobodys = a_proposal(user_id="bob"), a_proposal(user_id=None)
        await propose(store, how, no, bobs, nobodys)
        await store.proposals.put(rejected(no, by="owner", now=LATER))

        assert await shown(store, type=MemoryType.PROCEDURAL) == [how.id]
        assert await shown(store, state=ProposalState.REJECTED) == [no.id]
        everybody = a_scope(user_id=None)
        found = await store.proposals.find(everybody, ProposalQuery(state=ProposalState.PENDING))
        assert {one.id for one in found} == {how.id, bobs.id, nobodys.id}
        nobody = a_scope(user_id=None, userless=True)
        assert [one.id for one in await store.proposals.find(nobody, EVERYTHING)] == [nobodys.id]

    async def test_a_new_state_takes_the_place_of_the_former_one(self, store: Store) -> None:
        proposal = a_proposal()
        await propose(store, proposal)

        changed = edited(proposal, {"text": "Ana lives in Faro"}, by="owner", now=LATER)
        await store.proposals.put(changed)
        decided = rejected(changed, by="owner", now=LATER, reason="no")
        await store.proposals.put(decided)

        assert await store.proposals.get(a_scope(), proposal.id) == decided

    async def test_what_was_changed_or_decided_meanwhile_is_not_overwritten(
        self, store: Store
    ) -> None:
        proposal = a_proposal()
        await propose(store, proposal)
        changed = edited(proposal, {"text": "Ana lives in Faro"}, by="owner", now=LATER)
        await store.proposals.put(changed)

        with pytest.raises(ProposalChanged):
            await store.proposals.put(rejected(proposal, by="ben", now=LATER))
        decided = rejected(changed, by="owner", now=LATER)
        await store.proposals.put(decided)
        with pytest.raises(ProposalChanged):
            await store.proposals.put(replace(decided, revision=decided.revision + 1))

        assert await store.proposals.get(a_scope(), proposal.id) == decided
        with pytest.raises(ProposalNotFound):
            await store.proposals.put(replace(a_proposal(), revision=2))

    async def test_approving_stores_memory_and_decision_together(self, store: Store) -> None:
        proposal, memory = a_proposal(), a_memory()
        await propose(store, proposal)

        decided = approved(proposal, [ADDED], by="owner", now=LATER)
        await store.memories.apply(PROJECT, [Add(memory=memory)], deciding=decided)

        assert await store.proposals.get(a_scope(), proposal.id) == decided
        assert await store.memories.get(a_scope(), memory.id) == memory

    async def test_whoever_approves_second_stores_nothing(self, store: Store) -> None:
        proposal = a_proposal()
        await propose(store, proposal)
        decided = approved(proposal, [ADDED], by="owner", now=LATER)

        async def approve() -> bool:
            try:
                await store.memories.apply(PROJECT, [Add(memory=a_memory())], deciding=decided)
            except ProposalChanged:
                return False
            return True

        assert sorted(await asyncio.gather(approve(), approve())) == [False, True]
        assert len(await store.memories.find(a_scope(), MemoryQuery())) == 1

    async def test_a_decision_falls_with_what_it_would_have_stored(self, store: Store) -> None:
        proposal, memory = a_proposal(), a_memory(identity_key="home")
        await propose(store, proposal)
        await store.memories.apply(PROJECT, [Add(memory=memory)])

        decided = approved(proposal, [ADDED], by="owner", now=LATER)
        with pytest.raises(DuplicateMemory):
            await store.memories.apply(
                PROJECT, [Add(memory=a_memory(identity_key="home"))], deciding=decided
            )

        assert await store.proposals.get(a_scope(), proposal.id) == proposal

    async def test_they_are_counted_by_state_and_by_what_approving_did(self, store: Store) -> None:
        waiting, no, yes = a_proposal(), a_proposal(), a_proposal()
        await propose(store, waiting, no, yes)
        await propose(store, a_proposal(project_id="bank"))
        await store.proposals.put(rejected(no, by="owner", now=LATER))
        await store.proposals.put(approved(yes, [ADDED], by="owner", now=LATER))

        counted = ProposalCounts(pending=1, rejected=1, approved={"ADD": 1})
        assert await store.proposals.counts(PROJECT) == counted
        assert await store.proposals.counts() == replace(counted, pending=2)
        assert await store.proposals.counts("empty") == ProposalCounts()

    async def test_no_read_of_memory_finds_them(self, store: Store) -> None:
        await propose(store, a_proposal())

        everything = MemoryQuery(include_deleted=True, include_superseded=True)
        assert not await store.memories.find(a_scope(), everything)
        assert not await store.memories.counts(a_scope())

    async def test_they_go_with_their_user_and_are_counted(self, store: Store) -> None:
        mine, bobs = a_proposal(), a_proposal(user_id="bob")
        await propose(store, mine, bobs)
        await store.proposals.put(rejected(mine, by="owner", now=LATER))

        assert (await store.erase(a_scope()))["proposals"] == 1

        left = await store.proposals.find(a_scope(user_id=None), EVERYTHING)
        assert [one.id for one in left] == [bobs.id]
        decided = approved(mine, [ADDED], by="owner", now=LATER)
        with pytest.raises(ProposalNotFound):  # whoever was at it stores nothing of it
            await store.memories.apply(PROJECT, [Add(memory=a_memory())], deciding=decided)

    async def test_a_project_that_has_some_is_not_removed(self, store: Store) -> None:
        await store.projects.add(a_project(id=PROJECT))
        await propose(store, a_proposal())

        with pytest.raises(ProjectNotEmpty, match="proposals"):
            await store.projects.remove(PROJECT)

        await store.erase(a_scope(user_id=None))
        await store.projects.remove(PROJECT)

    async def test_none_comes_into_a_project_that_is_removed(self, store: Store) -> None:
        await store.projects.add(a_project(id=PROJECT))
        job = await a_claimed_job(store)
        await store.erase(a_scope(user_id=None))
        await store.projects.remove(PROJECT)

        with pytest.raises((LeaseLost, ProjectNotFound)):
            await store.proposals.add(PROJECT, [a_proposal()], settling=job)

        assert not await shown(store)

    async def test_the_words_of_those_that_wait_are_kept(self, store: Store) -> None:
        await store.turns.append(a_turn())
        snapshot = a_snapshot(1, 1)
        await store.snapshots.promote(snapshot, [])
        proposal = a_proposal(snapshot_id=snapshot.id)
        await propose(store, proposal)

        assert await store.snapshots.delete_promoted_turns(limit=9) == 0
        await store.snapshots.expire(before=LATER, limit=9)
        assert len(await store.turns.run(PROJECT, SESSION, first_seq=1, last_seq=9)) == 1
        await store.proposals.put(rejected(proposal, by="owner", now=LATER))

        assert await store.snapshots.delete_promoted_turns(limit=9) == 1
        assert not await store.turns.run(PROJECT, SESSION, first_seq=1, last_seq=9)

    async def test_an_archive_carries_them(self, store: Store) -> None:
        whole, waiting = elaborate(), a_proposal()
        await propose(store, whole, waiting, a_proposal(user_id="bob"))

        archived = await _archived(store, Contents(project_id=PROJECT, user_id="ana"))
        procedures = Contents(project_id=PROJECT, types=frozenset(("procedural",)))
        assert await _archived(store, procedures) == [ArchivedProposal(proposal=whole)]
        assert archived == [ArchivedProposal(proposal=one) for one in (whole, waiting)]
        await store.erase(a_scope())
        assert await store.archive.write(PROJECT, archived) == [Outcome.ERASED] * 2
        back = await store.archive.write(PROJECT, archived, restore_erased=True)
        assert back == [Outcome.NEW] * 2
        assert await store.proposals.get(a_scope(), whole.id) == whole

    async def test_what_was_decided_since_an_archive_stays(self, store: Store) -> None:
        proposal = a_proposal()
        await propose(store, proposal)
        await store.proposals.put(rejected(proposal, by="owner", now=LATER))

        items = [
            ArchivedProposal(proposal=proposal),
            ArchivedProposal(proposal=a_proposal(key=proposal.key)),
            ArchivedProposal(proposal=a_proposal(id=proposal.id)),
        ]
        outcomes = await store.archive.write(PROJECT, items)

        assert outcomes == [Outcome.KNOWN, Outcome.KNOWN, Outcome.CONFLICT]
        assert (await store.proposals.get(a_scope(), proposal.id)).state is ProposalState.REJECTED


async def _archived(store: Store, contents: Contents) -> list[Any]:
    reading = await store.archive.begin(contents)
    try:
        return [item async for portion in reading.portions() for item in portion]
    finally:
        await reading.close()
