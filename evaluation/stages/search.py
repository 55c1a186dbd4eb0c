"""Asking the server, one question at a time, as deep as the deepest k."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from evaluation.configurations import Configurations
from evaluation.conversations import Dataset
from evaluation.pipelines.place import Place
from evaluation.progress import Progress, Watcher
from evaluation.records import QuestionRecord, SearchRecord
from evaluation.stages.survey import Survey
from evaluation.workspace import Workspace
from memory_server.client import MemoryServerClient

COLD = 5
"""Searches after a start that a report tells apart, since caches are not warm yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Searching:
    """Every question, in every mode, asked of what was stored."""

    dataset: Dataset
    survey: Survey
    workspace: Workspace
    configurations: Configurations
    client: MemoryServerClient
    watcher: Watcher
    modes: Sequence[str]
    depth: int
    is_fresh: bool
    """Whether the server was started for this run."""
    _asked: Iterator[int] = field(default_factory=count)

    async def run(self) -> int:
        """Ask what was not asked yet, and return how many searches that were."""
        waiting = {
            conversation: pairs
            for conversation, asked in self.survey.questions.items()
            if (pairs := list(self._waiting(asked)))
        }
        total = sum(map(len, waiting.values()))
        if not total:
            return 0
        with self.watcher.stage("search", total) as progress:
            for conversation, _ in self.dataset.conversations():
                if conversation.key in waiting:
                    place = Place.of(conversation, ingestion=self.configurations.ingestion)
                    await self._ask(place, waiting[conversation.key], progress)
        return total

    @property
    def keys(self) -> Mapping[str, str]:
        """The configuration of each mode's searches."""
        return {mode: self._configuration(mode) for mode in self.modes}

    def _waiting(self, asked: Sequence[QuestionRecord]) -> Iterator[tuple[QuestionRecord, str]]:
        for question in asked:
            for mode in self.modes:
                key = (self.dataset.digest, self._configuration(mode), question.question)
                if key not in self.workspace.searches:
                    yield question, mode

    async def _ask(
        self,
        place: Place,
        pairs: Sequence[tuple[QuestionRecord, str]],
        progress: Progress,
    ) -> None:
        for question, mode in pairs:
            searched = await self.configurations.pipeline.search(
                self.client, place, question.text, mode=mode, depth=self.depth
            )
            record = SearchRecord(
                dataset=self.dataset.digest,
                configuration=self._configuration(mode),
                question=question.question,
                pipeline=self.configurations.pipeline.name,
                mode=mode,
                depth=self.depth,
                found=searched.found,
                timing=searched.timing,
                is_cold=self.is_fresh and next(self._asked) < COLD,
            )
            self.workspace.searches.append(record)
            progress.advance()

    def _configuration(self, mode: str) -> str:
        return self.configurations.search(mode=mode, depth=self.depth)
