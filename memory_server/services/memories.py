"""Long-term memories as clients save, read, change and delete them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, cast

from memory_server.domain.embedding import Vector
from memory_server.domain.identity import after_change, of_saved
from memory_server.domain.limits import MAX_TEXT_BYTES
from memory_server.domain.memory import Body, Memory, MemoryType, embedded_text
from memory_server.domain.scope import Scope, Visibility
from memory_server.errors import (
    DuplicateMemory,
    InvalidRequest,
    MemoryNotFound,
    TooLarge,
    VersionConflict,
)
from memory_server.ports.clock import Clock, Ids
from memory_server.ports.embedder import Embedder
from memory_server.ports.memories import Add, Erase, MemoryOperation, MemoryQuery, Replace
from memory_server.ports.store import Store
from memory_server.services.vectors import vector_in_time

ATTEMPTS = 30
"""How often a save is decided anew when others save the same memory at the same moment."""

_DEFAULT_VISIBILITY = {MemoryType.TAXONOMIC: Visibility.ORG}


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveRequest:
    """A memory as a client saves it. The owner comes from the scope."""

    body: Body
    visibility: Visibility | None = None
    """None: private, except that terms are for the whole project."""
    metadata: Mapping[str, Any] | None = None
    """None: none, and what is replaced keeps its own; an empty mapping clears it."""
    contextual_metadata: Mapping[str, Any] | None = None
    """Of a record: what is kept with it and never filtered on."""
    upsert: bool = False
    """Whether a fact of the same owner and label is replaced."""


class MemoryKeeping:
    """Saves each memory once, and keeps every version of it."""

    def __init__(self, *, store: Store, embedder: Embedder, clock: Clock, ids: Ids) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._ids = ids

    async def save(self, scope: Scope, request: SaveRequest) -> Memory:
        """Store a memory of the scope's user, or the new state of the one it is.

        A fact with `upsert` replaces the owner's fact of that label; a term replaces the
        owner's of that domain and term; an identical fact or episode is reinforced instead
        of stored twice; a procedure is always stored. The id stays the same for life.
        """
        _check_size(request.body)
        # Embedding may take long: what was asked of a project is not stored in its successor.
        begun = self._clock.now()
        vector = await self._vector(request.body)
        attempt = 0
        while True:
            try:
                return await self._save_once(scope, request, vector, begun)
            except (DuplicateMemory, VersionConflict):
                attempt += 1
                if attempt == ATTEMPTS:
                    raise

    async def get(self, scope: Scope, memory_id: str) -> Memory:
        """Return one memory the scope allows, or raise `MemoryNotFound`."""
        return await self._store.memories.get(scope, memory_id)

    async def find(self, scope: Scope, query: MemoryQuery) -> Sequence[Memory]:
        """Return the memories the query describes, live and newest first."""
        return await self._store.memories.find(scope, query)

    async def history(self, scope: Scope, memory_id: str) -> Sequence[Memory]:
        """Return every version of a memory, the oldest first."""
        return await self._store.memories.history(scope, memory_id)

    async def domains(self, scope: Scope) -> Sequence[str]:
        """Return the domains of the scope's live terms."""
        return await self._store.memories.domains(scope)

    async def patch(
        self, scope: Scope, kind: MemoryType, memory_id: str, changes: Mapping[str, Any]
    ) -> Memory:
        """Change the given fields of a live memory and return it; None leaves a field alone.

        `visibility` and `metadata` may be among the changes. A change of what is remembered
        makes a new version. Raises `MemoryNotFound` for deleted ones and other types too.
        """
        given = {name: value for name, value in changes.items() if value is not None}
        attempt = 0
        while True:
            memory = await self._live(scope, kind, memory_id)
            body = _with_changes(memory.body, given)
            vector = await self._vector(body) if body != memory.body else None
            _check_size(body)
            try:
                return await self._rewrite(
                    memory,
                    body,
                    visibility=given.get("visibility", memory.visibility),
                    metadata=given.get("metadata", memory.metadata),
                    vector=vector,
                )
            except VersionConflict:
                attempt += 1
                if attempt == ATTEMPTS:
                    raise

    async def delete(
        self, scope: Scope, kind: MemoryType, memory_id: str, *, soft: bool = True
    ) -> int:
        """Hide a memory, or with `soft=False` remove all its versions; return how many went."""
        attempt = 0
        while True:
            memory = await self._store.memories.get(scope, memory_id)
            if memory.type is not kind or memory.superseded_by is not None:
                raise MemoryNotFound(f"no {kind.value} memory has the id {memory_id!r}")
            if soft and memory.deleted:
                return 0
            try:
                await self._remove(memory, soft=soft)
            except VersionConflict:
                attempt += 1
                if attempt == ATTEMPTS:
                    raise
                continue
            return 1

    async def _remove(self, memory: Memory, *, soft: bool) -> None:
        operation: MemoryOperation = Erase(memory_id=memory.id)
        if soft:
            hidden = replace(
                memory,
                deleted=True,
                revision=memory.revision + 1,
                updated_at=self._clock.now(),
            )
            operation = Replace(memory=hidden)
        await self._store.memories.apply(memory.project_id, [operation])

    async def _save_once(
        self, scope: Scope, request: SaveRequest, vector: Vector | None, begun: datetime
    ) -> Memory:
        identity = of_saved(request.body, request.metadata or {}, by_label=request.upsert)
        known = await self._known(scope, request, identity)
        if known is None:
            return await self._add(scope, request, identity, vector, begun)
        if _is_same(known, request):
            return await self._reinforce(known, vector)
        return await self._rewrite(
            known,
            request.body,
            visibility=_visibility(request),
            metadata=known.metadata if request.metadata is None else request.metadata,
            vector=vector,
        )

    async def _known(
        self, scope: Scope, request: SaveRequest, identity: str | None
    ) -> Memory | None:
        """Return the owner's live memory that this save is about, if there is one."""
        if identity is None:
            return None
        owner = Scope(
            project_id=scope.project_id, user_id=scope.user_id, userless=scope.user_id is None
        )
        kind = request.body.type
        queries = [MemoryQuery(type=kind, identity_key=identity, limit=1)]
        if request.upsert and kind is MemoryType.SEMANTIC:
            queries.append(MemoryQuery(type=kind, key=request.body.key, limit=1))
        for query in queries:
            for memory in await self._store.memories.find(owner, query):
                return memory
        return None

    async def _add(
        self,
        scope: Scope,
        request: SaveRequest,
        identity: str | None,
        vector: Vector | None,
        begun: datetime,
    ) -> Memory:
        now = self._clock.now()
        memory = Memory(
            id=self._ids.new(),
            project_id=scope.project_id,
            user_id=scope.user_id,
            agent_id=scope.agent_id,
            session_id=scope.session_id,
            visibility=_visibility(request),
            body=request.body,
            identity_key=identity,
            metadata=request.metadata or {},
            contextual_metadata=request.contextual_metadata or {},
            created_at=begun,
            updated_at=now,
            valid_from=now,
            has_embedding=vector is not None,
        )
        await self._store.memories.apply(
            memory.project_id, [Add(memory=memory, vector=vector)], space=self._embedder.space
        )
        return memory

    async def _reinforce(self, known: Memory, vector: Vector | None) -> Memory:
        missing = None if known.has_embedding else vector
        memory = replace(
            known,
            reinforcement_count=known.reinforcement_count + 1,
            revision=known.revision + 1,
            updated_at=self._clock.now(),
            has_embedding=known.has_embedding or missing is not None,
        )
        await self._store.memories.apply(
            memory.project_id,
            [Replace(memory=memory, vector=missing)],
            space=self._embedder.space,
        )
        return memory

    async def _rewrite(
        self,
        known: Memory,
        body: Body,
        *,
        visibility: Visibility,
        metadata: Mapping[str, Any],
        vector: Vector | None,
    ) -> Memory:
        """Store a new state; a change of what is remembered keeps the former version."""
        now = self._clock.now()
        is_new_version = body != known.body
        former_id = self._ids.new() if is_new_version else None
        memory = replace(
            known,
            body=body,
            visibility=visibility,
            metadata=metadata,
            event_time=None if is_new_version else known.event_time,
            version=known.version + (1 if is_new_version else 0),
            revision=known.revision + 1,
            supersedes=former_id or known.supersedes,
            updated_at=now,
            valid_from=max(now, known.valid_from) if is_new_version else known.valid_from,
            has_embedding=vector is not None if is_new_version else known.has_embedding,
        )
        memory = _made_by_hand(memory) if is_new_version else memory
        await self._store.memories.apply(
            memory.project_id,
            [
                Replace(
                    memory=memory,
                    former_id=former_id,
                    vector=vector,
                    drop_vector=is_new_version and vector is None,
                )
            ],
            space=self._embedder.space,
        )
        return memory

    async def _live(self, scope: Scope, kind: MemoryType, memory_id: str) -> Memory:
        memory = await self._store.memories.get(scope, memory_id)
        if not memory.is_live or memory.type is not kind:
            raise MemoryNotFound(f"no live {kind.value} memory has the id {memory_id!r}")
        return memory

    async def _vector(self, body: Body) -> Vector | None:
        return await vector_in_time(
            self._embedder, embedded_text(body), of=f"a {body.type.value} memory"
        )


def _made_by_hand(memory: Memory) -> Memory:
    """Return a memory with new content as somebody's own word, which rests on no conversation.

    A claim keeps its matter and takes the new text as its value: the next word on the matter
    still meets it.
    """
    claim = memory.claim
    if claim is not None:
        claim = replace(claim, value=memory.body.chunk_text)
    memory = replace(memory, claim=claim, evidence=(), reinforcement_count=0)
    return replace(memory, identity_key=after_change(memory))


def _is_same(known: Memory, request: SaveRequest) -> bool:
    return (
        known.body == request.body
        and (request.metadata is None or dict(known.metadata) == dict(request.metadata))
        and known.visibility is _visibility(request)
    )


def _visibility(request: SaveRequest) -> Visibility:
    default = _DEFAULT_VISIBILITY.get(request.body.type, Visibility.PRIVATE)
    return request.visibility or default


def _with_changes(body: Body, changes: Mapping[str, Any]) -> Body:
    known = {name.name for name in fields(body)}
    own = {name: value for name, value in changes.items() if name in known}
    return cast(Body, replace(cast(Any, body), **own))


def _check_size(body: Body) -> None:
    size = len(body.index_text.encode())
    if size > MAX_TEXT_BYTES:
        raise TooLarge(
            f"the memory's text has {size} bytes; {MAX_TEXT_BYTES} are the most. Nothing was stored"
        )
    if not body.chunk_text.strip():
        raise InvalidRequest(f"a {body.type.value} memory needs text that is not blank")
