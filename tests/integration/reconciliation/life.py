"""One user's conversations, from recorded turns to stored memories, by either adapter."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from memory_server.domain.chunk import Source
from memory_server.domain.job import Job, JobKind
from memory_server.domain.memory import Memory, MemoryType
from memory_server.domain.promotion import PromotionPolicy
from memory_server.domain.retry import RetryPolicy
from memory_server.domain.scope import Scope
from memory_server.domain.turn import Role
from memory_server.ports.extractor import Extractor
from memory_server.ports.memories import MemoryQuery
from memory_server.ports.search import Selection
from memory_server.ports.store import Store
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.providers.extraction.rules import RuleExtractor
from memory_server.services.extraction import ExtractionOfSnapshots
from memory_server.services.promotion import Promotion
from memory_server.services.reconciliation import Reconciliation
from memory_server.services.turns import TurnInput, TurnRecording
from memory_server.worker.runner import Runner
from tests.chat_server import ChatServer, says_items
from tests.clock import CountingIds, ManualClock
from tests.integration.providers.extraction.llm_talk import extractor as model_extractor

ANA = Scope(project_id="p", user_id="ana")
RULES, MODEL = "rules", "model"
Item = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Heard:
    """One conversation: when it was, what was said, and what a good model notes of it.

    A turn is what the user said, or `role: words`, or `Name| words` of a named speaker.
    """

    day: str
    said: Sequence[str]
    model: Sequence[Item] = ()
    episode: Item | None = None


def noted(attribute: str, value: str, text: str, *, exclusive: bool = True, **changes: Any) -> Item:
    """Return one fact of a model's answer, resting on the first turn."""
    return {
        "attribute": attribute,
        "value": value,
        "text": text,
        "exclusive": exclusive,
        "evidence": [1],
        **changes,
    }


@dataclass
class Life:
    """A server's background half without a server, and the memories of one user."""

    store: Store
    clock: ManualClock
    ids: CountingIds
    adapter: str
    chat: ChatServer
    kinds: Sequence[MemoryType] = (MemoryType.SEMANTIC,)
    decisions: list[dict[str, Any]] = field(default_factory=list)
    scope: Scope = ANA

    def __post_init__(self) -> None:
        """Put the services together."""
        self.embedder = HashingEmbedder()
        self.extractor: Extractor = (
            RuleExtractor() if self.adapter == RULES else model_extractor(self.chat)
        )
        self.recording = TurnRecording(
            turns=self.store.turns,
            clock=self.clock,
            ids=self.ids,
            embedder=self.embedder,
            embed_on_write=False,
            on_recorded=lambda: None,
        )
        self.promotion = Promotion(
            store=self.store,
            embedder=self.embedder,
            clock=self.clock,
            ids=self.ids,
            policy=PromotionPolicy(max_messages=50, stale_after=timedelta(minutes=3)),
            enabled=self.kinds,
            on_queued=lambda: None,
        )
        self.reconciliation = Reconciliation(
            store=self.store, embedder=self.embedder, clock=self.clock, ids=self.ids
        )
        self.extraction = ExtractionOfSnapshots(
            store=self.store, extractor=self.extractor, reconciliation=self.reconciliation
        )

    def runner(self, name: str = "w") -> Runner:
        """Return a worker."""
        return Runner(
            jobs=self.store.jobs,
            handlers={JobKind.EXTRACT: self.extraction.work_off},
            clock=self.clock,
            worker=name,
            retry=RetryPolicy(),
        )

    async def live_through(self, *heard: Heard) -> None:
        """Record and work off one conversation after the other."""
        for number, conversation in enumerate(heard, 1):
            known = {job.id for job in await self._jobs()}
            await self.record(f"{self.scope.user_id}-{number}", conversation)
            await self.promotion.flush("p")
            self.answer(conversation)
            await self.runner().run_until_idle()
            new = [job for job in await self._jobs() if job.id not in known]
            self.decisions = [one for job in new for one in job.result.get("decisions", ())]
            self.clock.advance(by=timedelta(minutes=1))

    async def _jobs(self) -> Sequence[Job]:
        return await self.store.jobs.list("p", limit=1000)

    def answer(self, conversation: Heard) -> None:
        """Let the model answer what a good one would."""
        replies = {
            MemoryType.SEMANTIC: says_items(*conversation.model),
            MemoryType.EPISODIC: says_items(*filter(None, [conversation.episode])),
        }
        if self.adapter == MODEL:
            self.chat.will(*(replies[kind] for kind in self.kinds))

    async def record(self, session: str, conversation: Heard) -> None:
        """Record what was said."""
        day = datetime.fromisoformat(conversation.day).isoformat()
        for words in conversation.said:
            metadata: dict[str, Any] = {"timestamp": day}
            role, text = Role.USER, words
            head, _, rest = words.partition(": ")
            if head in list(Role):
                role, text = Role(head), rest
            elif "| " in words:
                metadata["speaker"], _, text = words.partition("| ")
            turn = TurnInput(session_id=session, role=role, content=text, metadata=metadata)
            await self.recording.record(self.scope, turn)

    @property
    def actions(self) -> Sequence[str]:
        """What was decided on the last conversation's facts, skips left out."""
        return [one["action"] for one in self.decisions if one["action"] != "SKIP"]

    async def live(self, kind: MemoryType = MemoryType.SEMANTIC) -> Sequence[Memory]:
        """Return what is remembered."""
        return await self.store.memories.find(self.scope, MemoryQuery(type=kind))

    async def texts(self, kind: MemoryType = MemoryType.SEMANTIC) -> Sequence[str]:
        """Return what is remembered, as it is shown."""
        return [memory.body.chunk_text for memory in await self.live(kind)]

    async def as_of(self, day: str, *terms: str) -> Sequence[str]:
        """Return the facts with any of the terms that a search as of that day finds."""
        selection = Selection(
            scope=self.scope,
            source=Source.SEMANTIC,
            as_of=datetime.fromisoformat(day),
            limit=20,
        )
        hits = await self.store.search.text(selection, terms)
        found = await self.store.memories.get_many(self.scope, [hit.id for hit in hits])
        return [memory.body.chunk_text for memory in found]
