"""Summary and contexts of exchanges, made in the background."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from memory_server.domain.candidate import Candidate, Conversation, Extraction
from memory_server.domain.characters import whole
from memory_server.domain.job import Job, failed_attempt, usage_before
from memory_server.domain.memory import Block, Episode, Memory, MemoryType
from memory_server.domain.scope import Scope
from memory_server.domain.snapshot import Snapshot, Trigger
from memory_server.domain.spending import Usage
from memory_server.domain.turn import Turn
from memory_server.errors import ProviderError, VersionConflict
from memory_server.ports.extractor import Extractor
from memory_server.ports.memories import Replace
from memory_server.ports.store import Store
from memory_server.services.stages import stage

ATTEMPTS = 30
"""How often the outcome is written anew while the blocks change under it."""
MOST_CONTEXTS = 50
"""Of one block; an exchange tells far less."""
BLOCKS_ARE_GONE = "blocks are gone"
_READ = (MemoryType.EPISODIC, MemoryType.SEMANTIC)
"""What of an exchange is read: its summary comes of episodes, its contexts of facts."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """What was read out of one exchange: a summary, and facts with where they were said."""

    extractor: str
    summary: str
    facts: Sequence[tuple[str, Sequence[str]]]
    """Each fact with the ids of the messages it rests on."""
    usage: Usage = field(default_factory=Usage)

    def contexts(self, block: Block) -> Sequence[str]:
        """Return the facts in what the block's speaker said, each once."""
        own = {said.id for said in block.messages if block.viewpoint.is_of(said.role)}
        told = (text for text, ids in self.facts if own & set(ids))
        return tuple(dict.fromkeys(told))[:MOST_CONTEXTS]


_READING: TypeAdapter[_Reading] = TypeAdapter(_Reading)


class ContextMaking:
    """Works off the jobs that make summary and contexts: one for each exchange."""

    def __init__(self, *, store: Store, extractor: Extractor) -> None:
        self._store = store
        self._extractor = extractor

    async def work_off(self, job: Job) -> None:
        """Read the exchange, keep the answer with the job, write it into the blocks, and settle.

        Running it again has the same effect once: the answer is kept before it is written, and
        writing it settles the job in the same transaction.
        """
        blocks = await self._blocks(job)
        if not blocks:
            await self._settle(job, BLOCKS_ARE_GONE)
            return
        reading = await self._read(blocks[0], job)
        attempt = 0
        while blocks:
            try:
                await self._write(blocks, reading, job)
            except VersionConflict:
                attempt += 1
                if attempt == ATTEMPTS:
                    raise
                blocks = await self._blocks(job)
            else:
                return
        await self._settle(job, BLOCKS_ARE_GONE)

    async def _blocks(self, job: Job) -> Sequence[Memory]:
        scope = Scope(project_id=job.project_id)
        found = await self._store.memories.get_many(scope, job.payload["memory_ids"])
        return [one for one in found if one.is_live and isinstance(one.body, Block)]

    async def _settle(self, job: Job, outcome: str) -> None:
        settling = replace(job, result={"outcome": outcome})
        await self._store.memories.apply(job.project_id, [], settling=settling)

    async def _read(self, memory: Memory, job: Job) -> _Reading:
        kept = _kept(job.progress)
        if kept is not None:
            return kept
        conversation = _conversation(memory)
        with stage("extraction"):
            episodes, facts = await self._extract(conversation, job)
        reading = _Reading(
            " + ".join(dict.fromkeys(map(self._extractor.version, _READ))),
            whole(_summary(episodes)),
            [(whole(one.body.chunk_text), list(one.turn_ids)) for one in facts.candidates],
            usage_before(job) + episodes.usage + facts.usage,
        )
        await self._store.jobs.save_progress(job, _READING.dump_python(reading, mode="json"))
        return reading

    async def _extract(self, conversation: Conversation, job: Job) -> Sequence[Extraction]:
        """Return what is read of each type; if one fails, what all took is kept with the job."""
        extractions: list[Extraction] = []
        try:
            for kind in _READ:
                extraction = await self._extractor.extract(conversation, kind)
                extractions = [*extractions, extraction]
        except ProviderError as error:
            taken = sum((one.usage for one in extractions), Usage.of(error.details))
            await self._store.jobs.save_progress(
                job, failed_attempt(job, {**error.details, **asdict(taken)})
            )
            raise
        return extractions

    async def _write(self, blocks: Sequence[Memory], reading: _Reading, job: Job) -> None:
        """Write into the blocks what was read; it is no new version, for nobody said more."""
        told = {"extractor": reading.extractor, "facts": len(reading.facts)}
        result = {**told, **asdict(reading.usage)}
        await self._store.memories.apply(
            job.project_id,
            [Replace(memory=_told(memory, reading)) for memory in blocks],
            settling=replace(job, result=result),
        )


def _kept(progress: Mapping[str, Any]) -> _Reading | None:
    """Return an earlier attempt's answer; one of another program version is asked for anew."""
    try:
        return _READING.validate_python(progress)
    except ValidationError:
        return None


def _told(memory: Memory, reading: _Reading) -> Memory:
    block = memory.body
    assert isinstance(block, Block), "only blocks are asked for"
    body = replace(
        block,
        extractor=reading.extractor,
        summary=reading.summary,
        contexts=reading.contexts(block),
    )
    return replace(memory, body=body, revision=memory.revision + 1)


def _summary(extraction: Extraction) -> str:
    """Return what happened in a few words; nothing where nobody said anything of note."""
    return next(filter(None, map(_in_short, extraction.candidates)), "")


def _in_short(candidate: Candidate) -> str:
    body = candidate.body
    return (body.summary_text or body.title) if isinstance(body, Episode) else ""


def _conversation(memory: Memory) -> Conversation:
    """Return an exchange as the conversation that an extractor reads."""
    block = memory.body
    assert isinstance(block, Block), "only blocks are asked for"
    began = memory.event_time.start if memory.event_time else None
    turns = [
        Turn(
            id=said.id,
            project_id=memory.project_id,
            session_id=block.conversation_id,
            user_id=memory.user_id,
            agent_id=memory.agent_id,
            role=said.role,
            content=said.content,
            created_at=memory.created_at,
            event_time=began,
            metadata={"speaker": said.speaker},
            turn_seq=said.position,
        )
        for said in block.messages
    ]
    snapshot = Snapshot(
        id=block.exchange_id,
        project_id=memory.project_id,
        session_id=block.conversation_id,
        user_id=memory.user_id,
        agent_id=memory.agent_id,
        first_seq=1,
        last_seq=len(turns),
        trigger=Trigger.FLUSH,
        created_at=memory.created_at,
    )
    return Conversation(snapshot=snapshot, turns=turns)
