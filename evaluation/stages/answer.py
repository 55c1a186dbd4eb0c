"""Answering every question from what a search brought, cut at each k."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluation.digests import digest_of
from evaluation.pipelines.stopwatch import milliseconds
from evaluation.progress import Watcher
from evaluation.readers.reader import Reader
from evaluation.records import AnswerRecord, QuestionRecord, SearchRecord
from evaluation.together import together
from evaluation.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """One answer to be given."""

    question: QuestionRecord
    search: SearchRecord
    k: int
    reader: Reader

    @property
    def configuration(self) -> str:
        return answer_configuration(self.search.configuration, self.k, self.reader)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """Readers over searches, at each k; what was answered before is not answered again."""

    dataset: str
    questions: Sequence[QuestionRecord]
    searches: Sequence[str]
    """Configurations of the searches that are read."""
    readers: Sequence[Reader]
    cutoffs: Sequence[int]
    workspace: Workspace
    watcher: Watcher
    concurrency: int

    async def run(self) -> int:
        """Answer what was not answered yet, and return how many answers that were."""
        waiting = [task for task in self._tasks() if self._key(task) not in self.workspace.answers]
        if not waiting:
            return 0
        tasks = iter(waiting)
        with self.watcher.stage("answer", len(waiting)) as progress:

            async def work() -> None:
                for task in tasks:
                    self.workspace.answers.append(await self._answered(task))
                    progress.advance()

            await together(work, workers=min(self.concurrency, len(waiting)))
        return len(waiting)

    def _tasks(self) -> Iterator[_Task]:
        for search in self.searches:
            for reader in self.readers:
                for k in self.cutoffs:
                    for question in self.questions:
                        found = self.workspace.searches.get(
                            (self.dataset, search, question.question)
                        )
                        if found is not None:
                            yield _Task(question=question, search=found, k=k, reader=reader)

    def _key(self, task: _Task) -> tuple[str, str, str]:
        return self.dataset, task.configuration, task.question.question

    async def _answered(self, task: _Task) -> AnswerRecord:
        began = time.perf_counter()
        reading = await task.reader.read(
            task.question.text, task.search.found[: task.k], asked_at=task.question.asked_at
        )
        return AnswerRecord(
            dataset=self.dataset,
            configuration=task.configuration,
            question=task.question.question,
            search=task.search.configuration,
            k=task.k,
            reader=task.reader.name,
            prompt=task.reader.prompt,
            prompt_digest=task.reader.digest,
            answer=reading.answer,
            tokens_in=reading.tokens_in,
            tokens_out=reading.tokens_out,
            milliseconds=milliseconds(time.perf_counter() - began),
        )


def answer_configuration(search: str, k: int, reader: Reader) -> str:
    """Return the digest of answers by a reader from the first k items of a search."""
    return digest_of("answer", search, k, reader.name, reader.prompt, reader.digest)
