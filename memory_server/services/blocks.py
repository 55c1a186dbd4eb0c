"""Exchanges of conversations, kept as blocks."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from weakref import WeakValueDictionary

from memory_server.domain.block import (
    Exchange,
    block_id,
    exchange_id_of_key,
    pair,
)
from memory_server.domain.embedding import Vector
from memory_server.domain.exchange import Viewpoint
from memory_server.domain.filters import Comparison, Operator
from memory_server.domain.job import Job, JobKind, JobState
from memory_server.domain.memory import Block, Memory, MemoryType, embedded_text
from memory_server.domain.scope import Scope
from memory_server.errors import DuplicateMemory, MemoryNotFound
from memory_server.ports.clock import Clock, Ids
from memory_server.ports.embedder import Embedder
from memory_server.ports.memories import Add, MemoryQuery
from memory_server.ports.store import Store
from memory_server.services.block_drafts import Conversation, Draft, check, check_blocks
from memory_server.services.stages import stage
from memory_server.services.vectors import vectors_in_time

ATTEMPTS = 30
"""How often a place in a conversation is looked for while other servers take it."""
SYNC_SECONDS = 25.0
"""How long a caller waits for summaries and contexts at most."""
LOOK_EVERY = 0.1
FAILED_LOOKED_AT = 200
"""How many failed jobs are looked at, the newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedBlocks:
    """The stored blocks, exchange by exchange."""

    blocks: Sequence[Memory]
    is_duplicate: bool
    """Whether they were stored before under the same idempotency key."""


class BlockKeeping:
    """Stores exchanges durably before it answers: those of one request all, or none."""

    def __init__(
        self,
        *,
        store: Store,
        embedder: Embedder,
        clock: Clock,
        ids: Ids,
        on_queued: Callable[[], None],
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._ids = ids
        self._on_queued = on_queued
        self._writing: WeakValueDictionary[Sequence[str | None], asyncio.Lock] = (
            WeakValueDictionary()
        )

    async def record(self, scope: Scope, given: Conversation) -> RecordedBlocks:
        """Store the exchanges of these messages for the scope's user and agent.

        Raises `InvalidRequest` or `TooLarge` before anything is stored. A key already used by
        this user in this conversation returns the blocks stored under it.
        """
        # Embedding may take long: what was asked of a project is not stored in its successor.
        begun = self._clock.now()
        with stage("validate"):
            check(given)
            exchanges = list(pair(given.messages))
            draft = Draft(scope, given, exchanges, self._ids_of(scope, given, exchanges), begun)
            check_blocks(draft.bodies(1), len(exchanges))
        with stage("embed"):
            vectors = await self._vectors(draft.bodies(1))
        with stage("write"):
            recorded = await self._write(draft, vectors)
        if given.context_required and not recorded.is_duplicate:
            self._on_queued()
        if given.sync:
            with stage("extract"):
                return await self._waited(scope, recorded)
        return recorded

    async def get(self, scope: Scope, block_id: str) -> Memory:
        """Return one block, or raise `MemoryNotFound`."""
        memory = await self._store.memories.get(scope, block_id)
        if memory.type is not MemoryType.BLOCK or not memory.is_live:
            raise MemoryNotFound(f"no block has the id {block_id!r}")
        return memory

    async def find(
        self,
        scope: Scope,
        *,
        conversation_id: str | None = None,
        exchange_id: str | None = None,
        viewpoint: Viewpoint | None = None,
        limit: int,
    ) -> Sequence[Memory]:
        """Return the blocks of a scope, the newest first, of an exchange in order."""
        if exchange_id is not None:
            views = [viewpoint] if viewpoint else list(Viewpoint)
            ids = [block_id(exchange_id, view) for view in views]
            found = await self._store.memories.get_many(scope, ids)
            return [
                one
                for one in found
                if one.is_live
                and isinstance(one.body, Block)
                and conversation_id in (None, one.body.conversation_id)
            ][:limit]
        query = MemoryQuery(
            type=MemoryType.BLOCK,
            key=conversation_id,
            filter=Comparison("viewpoint", Operator.EQ, viewpoint.value) if viewpoint else None,
            limit=limit,
        )
        return await self._store.memories.find(scope, query)

    async def failed(self, blocks: Sequence[Memory]) -> bool:
        """Whether summary and contexts of any of these blocks were given up for now."""
        keys = {_key(memory) for memory in blocks}
        for project_id in {memory.project_id for memory in blocks}:
            failed = await self._store.jobs.list(
                project_id, state=JobState.FAILED, limit=FAILED_LOOKED_AT
            )
            if any(job.key in keys for job in failed):
                return True
        return False

    def _ids_of(
        self, scope: Scope, given: Conversation, exchanges: Sequence[Exchange]
    ) -> Sequence[str]:
        key = given.idempotency_key
        if key is None:
            return [self._ids.new() for _ in exchanges]
        owner = (scope.project_id, scope.user_id, given.conversation_id)
        return [exchange_id_of_key(owner, key, number) for number in range(len(exchanges))]

    async def _vectors(self, bodies: Sequence[Block]) -> Mapping[str, Vector | None]:
        """Return the vectors of what was said, by text: the viewpoints of an exchange share it."""
        texts = list(dict.fromkeys(embedded_text(body) for body in bodies))
        vectors = await vectors_in_time(self._embedder, texts, of=f"{len(texts)} exchanges")
        return dict(zip(texts, vectors, strict=True))

    async def _write(self, draft: "Draft", vectors: Mapping[str, Vector | None]) -> RecordedBlocks:
        """Store the blocks at the end of their conversation, unless they are stored already.

        Where the end is, is read first, then whether they are stored: so whoever stored them in
        between took that place, and the write fails.
        """
        lock = self._writing.setdefault(draft.conversation, asyncio.Lock())
        async with lock:
            for attempt in range(ATTEMPTS):
                first = await self._end(draft, thoroughly=attempt > 0)
                known = await self._store.memories.get_many(draft.owner, draft.ids())
                if known:
                    return RecordedBlocks(blocks=known, is_duplicate=True)
                try:
                    return await self._add(draft.memories(first), vectors)
                except DuplicateMemory:
                    if attempt == ATTEMPTS - 1:
                        raise
        raise AssertionError("the last attempt raises")

    async def _end(self, draft: "Draft", *, thoroughly: bool) -> int:
        """Return the first free place: after the newest exchange, or after all of them."""
        query = MemoryQuery(
            type=MemoryType.BLOCK,
            key=draft.given.conversation_id,
            limit=None if thoroughly else 1,
        )
        found = await self._store.memories.find(draft.owner, query)
        return 1 + max((_body(memory).position for memory in found), default=0)

    async def _add(
        self, memories: Sequence[Memory], vectors: Mapping[str, Vector | None]
    ) -> RecordedBlocks:
        adds = [_add(memory, vectors[embedded_text(memory.body)]) for memory in memories]
        await self._store.memories.apply(
            memories[0].project_id,
            adds,
            space=self._embedder.space,
            queueing=list(self._jobs(memories)),
        )
        return RecordedBlocks(blocks=[add.memory for add in adds], is_duplicate=False)

    def _jobs(self, memories: Sequence[Memory]) -> Iterable[Job]:
        wanting: dict[str, list[Memory]] = {}
        for memory in memories:
            if _body(memory).context_required:
                wanting.setdefault(_key(memory), []).append(memory)
        for key, of_exchange in wanting.items():
            first = of_exchange[0]
            yield Job(
                id=self._ids.new(),
                project_id=first.project_id,
                kind=JobKind.CONTEXT,
                key=key,
                payload={
                    "type": MemoryType.BLOCK.value,
                    "memory_ids": [memory.id for memory in of_exchange],
                },
                user_id=first.user_id,
                created_at=first.created_at,
                due_at=first.created_at,
            )

    async def _waited(self, scope: Scope, recorded: RecordedBlocks) -> RecordedBlocks:
        """Wait until all have summary and contexts, one of them failed, or time is up."""
        until = self._clock.now() + timedelta(seconds=SYNC_SECONDS)
        ids = [memory.id for memory in recorded.blocks]
        while True:
            blocks = await self._store.memories.get_many(Scope(project_id=scope.project_id), ids)
            is_made = all(_body(memory).extractor is not None for memory in blocks)
            if is_made or self._clock.now() >= until or await self.failed(blocks):
                return RecordedBlocks(blocks=blocks, is_duplicate=recorded.is_duplicate)
            await self._clock.sleep(LOOK_EVERY)


def _add(memory: Memory, vector: Vector | None) -> Add:
    return Add(memory=replace(memory, has_embedding=vector is not None), vector=vector)


def _body(memory: Memory) -> Block:
    assert isinstance(memory.body, Block), "only blocks are kept here"
    return memory.body


def _key(memory: Memory) -> str:
    """Return the key of the job that makes summary and contexts of a block's exchange."""
    return f"context:{_body(memory).exchange_id}"
