"""Storing conversations: several at a time, each in its order, none twice."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from evaluation.configurations import Configurations
from evaluation.conversations import Conversation, Dataset
from evaluation.errors import StoredDifferently
from evaluation.exchanges import exchanges_of
from evaluation.pipelines.place import Place
from evaluation.progress import Progress, Watcher
from evaluation.records import IngestRecord
from evaluation.stages.survey import Survey
from evaluation.together import together
from evaluation.workspace import Workspace
from memory_server.client import MemoryServerClient

STEPS = 2
"""What is counted of a turn: that it is sent, and that all work on its conversation is done. The
second takes as long as the first, or longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingestion:
    """Every conversation that questions are about, brought into the server's memory."""

    dataset: Dataset
    survey: Survey
    workspace: Workspace
    configurations: Configurations
    client: MemoryServerClient
    watcher: Watcher
    concurrency: int
    anew: bool = False
    """Whether what the server has of a conversation is erased first."""

    async def run(self) -> int:
        """Store what is not stored yet, and return how many conversations that were."""
        waiting = [key for key in self.survey.turns if not self._is_done(key)]
        if not waiting:
            return 0
        total = STEPS * sum(self.survey.turns[key] for key in waiting)
        conversations = self._conversations(set(waiting))
        with self.watcher.stage("ingest", total) as progress:
            await together(
                lambda: self._work(conversations, progress),
                workers=min(self.concurrency, len(waiting)),
            )
        return len(waiting)

    def _is_done(self, conversation: str) -> bool:
        key = (self.dataset.digest, self.configurations.ingestion, conversation)
        return key in self.workspace.ingests

    def _conversations(self, waiting: set[str]) -> Iterator[Conversation]:
        for conversation, _ in self.dataset.conversations():
            if conversation.key in waiting:
                yield conversation

    async def _work(self, conversations: Iterator[Conversation], progress: Progress) -> None:
        """Store one conversation after the other until none is left."""
        for conversation in conversations:
            record = await self._stored(conversation, progress.advance)
            self.workspace.ingests.append(record)
            progress.advance(record.turns)

    async def _stored(
        self, conversation: Conversation, advance: Callable[[], None]
    ) -> IngestRecord:
        """Store one conversation; what is there already of it is completed, or made anew."""
        pipeline = self.configurations.pipeline
        place = Place.of(conversation, ingestion=self.configurations.ingestion)
        if self.anew:
            await self.client.erase(place.user_id)
        began = time.perf_counter()
        try:
            done = await pipeline.ingest(self.client, place, advance=advance)
        except StoredDifferently as error:
            self.watcher.note(f"{conversation.key} is stored anew: {error}")
            await self.client.erase(place.user_id)
            done = await pipeline.ingest(self.client, place, advance=_uncounted)
        return IngestRecord(
            dataset=self.dataset.digest,
            configuration=self.configurations.ingestion,
            conversation=conversation.key,
            turns=len(conversation.recorded),
            stored=done.stored,
            exchanges=exchanges_of(conversation.recorded),
            seconds=round(time.perf_counter() - began, 3),
            timing=done.timing,
            calls=done.calls,
            tokens=done.tokens_in,
            tokens_out=done.tokens_out,
        )


def _uncounted() -> None:
    """Be the progress of what was counted already."""
