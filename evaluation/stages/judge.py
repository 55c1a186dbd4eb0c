"""Having every answer marked, by each judge, as often as asked for."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluation.digests import digest_of
from evaluation.judges.judge import Judge, can_be_marked
from evaluation.judges.self_test import cases, self_test
from evaluation.pipelines.stopwatch import milliseconds
from evaluation.progress import Watcher
from evaluation.records import AnswerRecord, JudgementRecord, QuestionRecord, SelfTestRecord
from evaluation.together import together
from evaluation.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """One verdict to be given."""

    question: QuestionRecord
    answer: AnswerRecord
    judge: Judge
    run: int

    @property
    def configuration(self) -> str:
        return judge_configuration(self.answer.configuration, self.judge)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """Judges over answers; a judge marks answers of known worth first."""

    dataset: str
    questions: Sequence[QuestionRecord]
    answers: Sequence[str]
    """Configurations of the answers that are marked."""
    judges: Sequence[Judge]
    runs: int
    workspace: Workspace
    watcher: Watcher
    concurrency: int

    async def run(self) -> int:
        """Mark what was not marked yet, and return how many verdicts that were."""
        for judge in self.judges:
            await self._test(judge)
        waiting = [
            task for task in self._tasks() if self._key(task) not in self.workspace.judgements
        ]
        if not waiting:
            return 0
        tasks = iter(waiting)
        with self.watcher.stage("judge", len(waiting)) as progress:

            async def work() -> None:
                for task in tasks:
                    self.workspace.judgements.append(await self._marked(task))
                    progress.advance()

            await together(work, workers=min(self.concurrency, len(waiting)))
        return len(waiting)

    async def _test(self, judge: Judge) -> None:
        done = {one.case for one in self.workspace.self_tests if _is_of(judge, one)}
        known = cases(self.questions)
        if done >= {case.key for case in known}:
            return
        with self.watcher.stage(f"self-test of {judge.name}", len(known)) as progress:
            async for record in self_test(judge, self.questions):
                self.workspace.self_tests.append(record)
                progress.advance()

    def _tasks(self) -> Iterator[_Task]:
        for judge in self.judges:
            for run in range(1, self.runs + 1):
                for configuration in self.answers:
                    for question in self.questions:
                        answer = self.workspace.answers.get(
                            (self.dataset, configuration, question.question)
                        )
                        if answer is not None and can_be_marked(question):
                            yield _Task(question=question, answer=answer, judge=judge, run=run)

    def _key(self, task: _Task) -> tuple[str, str, str, int]:
        return self.dataset, task.configuration, task.question.question, task.run

    async def _marked(self, task: _Task) -> JudgementRecord:
        began = time.perf_counter()
        verdict = await task.judge.mark(task.question, task.answer.answer)
        return JudgementRecord(
            dataset=self.dataset,
            configuration=task.configuration,
            question=task.question.question,
            answer=task.answer.configuration,
            judge=task.judge.name,
            model=task.judge.model.name,
            prompt_digest=task.judge.digest,
            temperature=task.judge.temperature,
            run=task.run,
            is_right=verdict.is_right,
            reply=verdict.reply,
            tokens_in=verdict.tokens_in,
            tokens_out=verdict.tokens_out,
            milliseconds=milliseconds(time.perf_counter() - began),
        )


def judge_configuration(answer: str, judge: Judge) -> str:
    """Return the digest of verdicts by a judge on some answers."""
    return digest_of("judge", answer, judge.name, judge.model.name, judge.temperature, judge.digest)


def _is_of(judge: Judge, test: SelfTestRecord) -> bool:
    theirs = (test.judge, test.model, test.prompt_digest, test.temperature)
    return theirs == (judge.name, judge.model.name, judge.digest, judge.temperature)
