"""What Ana has, and what strangers try to get of it or to do with it."""

import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from memory_server.domain.archive import ArchivedMemory, Contents
from memory_server.domain.chunk import Source
from memory_server.domain.job import JobCounts, JobKind
from memory_server.domain.memory import Memory
from memory_server.domain.proposal import Proposal, rejected
from memory_server.domain.scope import Scope
from memory_server.domain.turn import Turn
from memory_server.errors import (
    AccountNotFound,
    AlreadyPromoted,
    JobNotFound,
    LeaseLost,
    MemoryNotFound,
    ProposalNotFound,
    SnapshotNotFound,
    VersionConflict,
)
from memory_server.ports.memories import Add, Erase, MemoryQuery, Replace
from memory_server.ports.proposals import ProposalCounts, ProposalQuery
from memory_server.ports.search import Selection
from memory_server.ports.spaces import Given
from memory_server.ports.store import Store
from tests.clock import START
from tests.factories import (
    PROJECT,
    SESSION,
    SPACE,
    a_block,
    a_job,
    a_memory,
    a_proposal,
    a_record,
    a_scope,
    a_snapshot,
    a_term,
    a_turn,
    a_vector,
    an_account,
)

LATER = START + timedelta(hours=1)
FOREIGN = "bank"
"""A project that must see nothing."""


@dataclass(frozen=True, kw_only=True)
class Known:
    """What Ana has in her project."""

    turn: Turn
    memory: Memory
    record: Memory
    block: Memory
    job: Any
    failed_job: Any
    snapshot: Any
    account: Any
    proposal: Proposal


async def fill(store: Store) -> Known:
    """Give Ana one of everything."""
    turn = await store.turns.append(a_turn(idempotency_key="k"), vector=a_vector(1), space=SPACE)
    await store.turns.append(a_turn("Lisbon again"))
    memory = a_memory(body=a_term(definition="Lisbon"), identity_key="i")
    await store.memories.apply(PROJECT, [Add(memory=memory, vector=a_vector(1))], space=SPACE)
    record, block = a_memory(body=a_record()), a_memory(body=a_block(), session_id=SESSION)
    both = [Add(memory=memory, vector=a_vector(1)) for memory in (record, block)]
    await store.memories.apply(PROJECT, both, space=SPACE)
    snapshot = a_snapshot(1, 1)
    jobs = [a_job(), a_job(payload={"type": "episodic"})]
    await store.snapshots.promote(snapshot, jobs)
    job, failed = [await _claim(store) for _ in jobs]
    await store.jobs.fail(failed, code="C", reason="r", now=START)
    account = an_account()
    await store.accounts.add(account)
    await store.jobs.enqueue([a_job(user_id="carol")])
    proposal = a_proposal()
    await store.proposals.add(PROJECT, [proposal], settling=await _claim(store))
    return Known(
        turn=turn,
        memory=memory,
        record=record,
        block=block,
        job=job,
        failed_job=failed,
        snapshot=snapshot,
        account=account,
        proposal=proposal,
    )


async def _claim(store: Store) -> Any:
    kinds = [JobKind.EXTRACT]
    return await store.jobs.claim(worker="w", kinds=kinds, now=START, lease_until=LATER)


async def fingerprint(store: Store) -> Any:
    """Return all that Ana has."""
    scope = a_scope()
    everything = MemoryQuery(include_deleted=True, include_superseded=True)
    words = await store.search.text(select(scope, Source.TAXONOMIC), ["lisbon"])
    return (
        await store.turns.run(PROJECT, SESSION, first_seq=1, last_seq=9),
        await store.snapshots.session(PROJECT, SESSION),
        await store.memories.find(scope, everything),
        await store.jobs.list(PROJECT),
        await store.proposals.find(a_scope(user_id=None), ProposalQuery()),
        await store.accounts.list(PROJECT),
        [hit.id for hit in words],  # how rare a word is may be counted over a whole index
        await store.search.vector(select(scope, Source.STM), a_vector(1), SPACE),
        await store.search.vector(select_records(scope), a_vector(1), SPACE),
        await store.search.vector(select(scope, Source.BLOCK), a_vector(1), SPACE),
    )


def select(scope: Scope, source: Source) -> Selection:
    """Return a search for all that a scope has."""
    return Selection(scope=scope, source=source, limit=500)


def select_records(scope: Scope) -> Selection:
    """Return a search for all records of a declared type that a scope has."""
    return replace(select(scope, Source.CUSTOM), custom_type="ticket")


Attempt = Callable[[Store, Known, Scope], Awaitable[Any]]
"""What a stranger tries; nothing must come of it."""


@dataclass(frozen=True)
class Try:
    """An attempt, and either nothing or an error that comes of it."""

    attempt: Attempt
    refused: type[Exception] | None = None
    by_user: bool = True
    """Whether another user of the same project is a stranger here too."""


def _changed(memory: Memory, scope: Scope) -> Memory:
    return replace(memory, project_id=scope.project_id, revision=memory.revision + 1)


TRIES: dict[str, Try] = {
    "Turns.append": Try(lambda s, k, o: _append(s, k, o), by_user=False),
    "Turns.recent": Try(lambda s, k, o: s.turns.recent(replace(o, session_id=SESSION), limit=9)),
    "Turns.run": Try(
        lambda s, k, o: s.turns.run(o.project_id, SESSION, first_seq=1, last_seq=9),
        by_user=False,
    ),
    "Turns.get_many": Try(
        lambda s, k, o: s.turns.get_many(o.project_id, [k.turn.id]), by_user=False
    ),
    "Turns.utterances": Try(
        lambda s, k, o: s.turns.utterances(o.project_id, [k.turn.id]), by_user=False
    ),
    "Turns.set_vectors": Try(
        lambda s, k, o: s.turns.set_vectors(o.project_id, {k.turn.id: a_vector(0, 1)}, SPACE),
        by_user=False,
    ),
    "Snapshots.session": Try(
        lambda s, k, o: s.snapshots.session(o.project_id, SESSION), by_user=False
    ),
    "Snapshots.promote": Try(
        lambda s, k, o: s.snapshots.promote(a_snapshot(2, 2, project_id=o.project_id), []),
        AlreadyPromoted,
        by_user=False,
    ),
    "Snapshots.get": Try(
        lambda s, k, o: s.snapshots.get(o.project_id, k.snapshot.id),
        SnapshotNotFound,
        by_user=False,
    ),
    "Memories.get": Try(lambda s, k, o: s.memories.get(o, k.memory.id), MemoryNotFound),
    "Memories.get_many": Try(lambda s, k, o: s.memories.get_many(o, [k.memory.id, k.record.id])),
    "Memories.utterances": Try(lambda s, k, o: s.memories.utterances(o, [k.block.id])),
    "Memories.find": Try(
        lambda s, k, o: s.memories.find(
            o, MemoryQuery(include_deleted=True, include_superseded=True)
        )
    ),
    "Memories.history": Try(lambda s, k, o: s.memories.history(o, k.memory.id), MemoryNotFound),
    "Memories.histories": Try(lambda s, k, o: s.memories.histories(o, [k.memory.id, k.record.id])),
    "Memories.domains": Try(lambda s, k, o: s.memories.domains(o)),
    "Memories.counts": Try(lambda s, k, o: s.memories.counts(o)),
    "Memories.apply": Try(
        lambda s, k, o: s.memories.apply(
            o.project_id, [Replace(memory=_changed(k.memory, o), former_id="stolen")]
        ),
        VersionConflict,
        by_user=False,
    ),
    "Memories.apply (erase)": Try(
        lambda s, k, o: s.memories.apply(o.project_id, [Erase(memory_id=k.memory.id)]),
        MemoryNotFound,
        by_user=False,
    ),
    "Memories.apply (settling)": Try(
        lambda s, k, o: s.memories.apply(
            o.project_id, [], settling=replace(k.job, project_id=o.project_id)
        ),
        LeaseLost,
        by_user=False,
    ),
    "Memories.apply (deciding)": Try(
        lambda s, k, o: s.memories.apply(
            o.project_id, [], deciding=_rejected(k.proposal, o.project_id)
        ),
        ProposalNotFound,
        by_user=False,
    ),
    "Proposals.add": Try(lambda s, k, o: _proposed(s, k, o), by_user=False),
    "Proposals.get": Try(lambda s, k, o: s.proposals.get(o, k.proposal.id), ProposalNotFound),
    "Proposals.find": Try(lambda s, k, o: s.proposals.find(o, ProposalQuery())),
    "Proposals.put": Try(
        lambda s, k, o: s.proposals.put(_rejected(k.proposal, o.project_id)),
        ProposalNotFound,
        by_user=False,
    ),
    "Proposals.counts": Try(lambda s, k, o: _counted_proposals(s, o), by_user=False),
    "Jobs.extend": Try(
        lambda s, k, o: s.jobs.extend(replace(k.job, project_id=o.project_id), lease_until=LATER),
        LeaseLost,
        by_user=False,
    ),
    "Jobs.save_progress": Try(
        lambda s, k, o: s.jobs.save_progress(replace(k.job, project_id=o.project_id), {}),
        LeaseLost,
        by_user=False,
    ),
    "Jobs.complete": Try(
        lambda s, k, o: s.jobs.complete(
            replace(k.job, project_id=o.project_id), result={}, now=START
        ),
        LeaseLost,
        by_user=False,
    ),
    "Jobs.retry": Try(
        lambda s, k, o: s.jobs.retry(
            replace(k.job, project_id=o.project_id), due_at=START, code="C", reason="r"
        ),
        LeaseLost,
        by_user=False,
    ),
    "Jobs.defer": Try(
        lambda s, k, o: s.jobs.defer(
            replace(k.job, project_id=o.project_id), due_at=START, code="C", reason="r"
        ),
        LeaseLost,
        by_user=False,
    ),
    "Jobs.fail": Try(
        lambda s, k, o: s.jobs.fail(
            replace(k.job, project_id=o.project_id), code="C", reason="r", now=START
        ),
        LeaseLost,
        by_user=False,
    ),
    "Jobs.requeue": Try(
        lambda s, k, o: s.jobs.requeue(o.project_id, k.failed_job.id, due_at=START),
        JobNotFound,
        by_user=False,
    ),
    "Jobs.requeue_failed": Try(
        lambda s, k, o: s.jobs.requeue_failed(o.project_id, due_at=START), by_user=False
    ),
    "Jobs.list": Try(lambda s, k, o: s.jobs.list(o.project_id), by_user=False),
    "Jobs.counts": Try(lambda s, k, o: _counted(s, o), by_user=False),
    "Jobs.enqueue": Try(lambda s, k, o: _enqueue(s, k, o), by_user=False),
    "Accounts.add": Try(
        lambda s, k, o: s.accounts.add(an_account(name=k.account.name, project_id=o.project_id)),
        by_user=False,
    ),
    "Accounts.list": Try(lambda s, k, o: s.accounts.list(o.project_id), by_user=False),
    "Accounts.put": Try(
        lambda s, k, o: s.accounts.put(
            replace(k.account, project_id=o.project_id), expected_updated_at=START
        ),
        AccountNotFound,
        by_user=False,
    ),
    "SearchIndex.text": Try(lambda s, k, o: _search(s, o, "text")),
    "SearchIndex.vector": Try(lambda s, k, o: _search(s, o, "vector")),
    "Archive.begin": Try(lambda s, k, o: _read(s, o), by_user=False),
    "Archive.write": Try(lambda s, k, o: _brought(s, k, o), by_user=False),
    "Spaces.give": Try(
        lambda s, k, o: s.spaces.give(
            [Given(project_id=o.project_id, id=k.turn.id, vector=a_vector(0, 1))], SPACE
        ),
        by_user=False,
    ),
    "Store.erase": Try(lambda s, k, o: _erased(s, o)),
}


def _rejected(proposal: Proposal, project_id: str) -> Proposal:
    return rejected(replace(proposal, project_id=project_id), by="stranger", now=LATER)


async def _proposed(store: Store, known: Known, stranger: Scope) -> None:
    theirs = stranger.project_id
    await store.jobs.enqueue([a_job(project_id=theirs)])
    proposal = replace(known.proposal, project_id=theirs)
    assert await store.proposals.add(theirs, [proposal], settling=await _claim(store))


async def _counted_proposals(store: Store, stranger: Scope) -> None:
    assert await store.proposals.counts(stranger.project_id) == ProposalCounts()


async def _append(store: Store, known: Known, stranger: Scope) -> None:
    turn = a_turn(project_id=stranger.project_id, user_id=stranger.user_id, idempotency_key="k")
    assert (await store.turns.append(turn)).id == turn.id != known.turn.id


async def _enqueue(store: Store, known: Known, stranger: Scope) -> None:
    job = a_job(project_id=stranger.project_id, key=known.job.key)
    assert await store.jobs.enqueue([job]) == 1


async def _counted(store: Store, stranger: Scope) -> None:
    counts = await store.jobs.counts(stranger.project_id)
    assert counts == JobCounts(queued=0, running=0, failed=0, done=0)


async def _read(store: Store, stranger: Scope) -> list[Any]:
    reading = await store.archive.begin(
        Contents(project_id=stranger.project_id, user_id=stranger.user_id, with_vectors=True)
    )
    try:
        return [*reading.spaces, *[portion async for portion in reading.portions()]]
    finally:
        await reading.close()


async def _brought(store: Store, known: Known, stranger: Scope) -> None:
    memory = replace(known.memory, project_id=stranger.project_id)
    item = ArchivedMemory(memory=memory, root_id=memory.id)
    await store.archive.write(stranger.project_id, [item])


async def _erased(store: Store, stranger: Scope) -> None:
    assert not any((await store.erase(stranger)).values())


async def _search(store: Store, stranger: Scope, leg: str) -> list[Any]:
    found: list[Any] = []
    sources = [*(select(stranger, source) for source in Source), select_records(stranger)]
    for selected, as_of in itertools.product(sources, (None, LATER)):
        selection = replace(selected, as_of=as_of)
        if leg == "text":
            found += await store.search.text(selection, ["lisbon"])
        else:
            found += await store.search.vector(selection, a_vector(1), SPACE)
    return found
