"""One evaluation: its data, its directory, and its stages, each doing what is not done yet."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from evaluation.configurations import Configurations
from evaluation.conversations import Dataset
from evaluation.datasets.opening import open_dataset
from evaluation.errors import NotThere
from evaluation.marking import check_keys, judges_of, readers_of
from evaluation.pipelines import Pipeline, pipeline_of
from evaluation.progress import Watcher
from evaluation.records import Manifest, QuestionRecord
from evaluation.report.comparison import Incomparable
from evaluation.server import ServerFacts
from evaluation.stages.answer import Answering, answer_configuration
from evaluation.stages.ingest import Ingestion
from evaluation.stages.judge import Judging, judge_configuration
from evaluation.stages.report import Reported, report
from evaluation.stages.search import Searching
from evaluation.stages.survey import Survey, survey
from evaluation.suite import Suite
from evaluation.workspace import Workspace, kept_manifest
from memory_server.client import MemoryServerClient

Told = Mapping[str, int]
"""What a stage did, in numbers."""
AT_ONCE = 8
"""Answers or verdicts of a model that are waited for at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """A server that is ready, and how it came to be."""

    client: MemoryServerClient
    place: str | None
    """Address and project; None: the evaluation's own server."""
    is_fresh: bool
    """Whether it was started for this run."""
    is_empty: bool = False
    """Whether it has no memory yet, so that nothing can have been stored before."""


class Evaluation:
    """What a suite asks for, done in a directory as far as it is not done there already."""

    def __init__(
        self,
        suite: Suite,
        workspace: Workspace,
        watcher: Watcher,
        *,
        concurrency: int,
        environment: Mapping[str, str],
    ) -> None:
        """Keep what is to be done; `environment` has the keys of models."""
        self.suite = suite
        self.workspace = workspace
        self._watcher = watcher
        self._concurrency = concurrency
        self._environment = environment
        self._stores_anew = False

    @cached_property
    def dataset(self) -> Dataset:
        """The data; raises `InvalidDataset` and `UnknownChoice`."""
        data = self.suite.data
        return open_dataset(
            data.dataset,
            data.path,
            only=data.only,
            limit=data.limit,
            audit=data.audit,
            without_known_errors=data.without_known_errors,
        )

    @cached_property
    def survey(self) -> Survey:
        """Its questions, and how much there is to store; raises `NotThere` if nothing is asked."""
        found = survey(self.dataset, self.workspace)
        if not found.count:
            raise NotThere(f"{self.suite.data.path} asks no question: nothing can be measured")
        return found

    @cached_property
    def pipeline(self) -> Pipeline:
        """How conversations are remembered."""
        return pipeline_of(self.suite.pipeline, rerank=self.suite.rerank)

    def check(self, stages: Collection[str]) -> None:
        """Refuse now what one of these stages would refuse when the others have taken hours.

        Raises `KeyRejected`, `NotThere` for a baseline that is no evaluation, and `Incomparable`
        for one of other data.
        """
        check_keys(
            self.suite, self._environment, answers="answer" in stages, judges="judge" in stages
        )
        for baseline in self.suite.baselines if "report" in stages else ():
            kept = kept_manifest(baseline)
            if kept is None:
                raise NotThere(f"the baseline {baseline} holds no evaluation: mend its path")
            if "ingest" in stages and kept.dataset != self.dataset.digest:
                raise Incomparable(
                    f"the baseline {baseline} is of other data: {kept.dataset_name} "
                    f"{kept.dataset[:12]}, and this is {self.dataset.name} "
                    f"{self.dataset.digest[:12]}; measure both on the same data, and the same of it"
                )

    async def ingest(self, reached: Reached) -> Told:
        """Store every conversation that is not stored yet."""
        configurations = await self._begun(reached)
        if reached.is_empty:
            self._forget_stored(configurations)
        stored = await Ingestion(
            dataset=self.dataset,
            survey=self.survey,
            workspace=self.workspace,
            configurations=configurations,
            client=reached.client,
            watcher=self._watcher,
            concurrency=self._concurrency,
            anew=self._stores_anew,
        ).run()
        return {"conversations": len(self.survey.turns), "ingested": stored}

    async def search(self, reached: Reached) -> Told:
        """Ask every question in every mode, one at a time.

        Raises `NotThere` where a conversation was not stored before.
        """
        configurations = await self._begun(reached)
        self._check_stored(configurations)
        searched = await Searching(
            dataset=self.dataset,
            survey=self.survey,
            workspace=self.workspace,
            configurations=configurations,
            client=reached.client,
            watcher=self._watcher,
            modes=self.suite.modes,
            depth=self.suite.deepest,
            is_fresh=reached.is_fresh,
        ).run()
        return {"questions": self.survey.count, "searched": searched}

    async def answer(self) -> Told:
        """Have every question answered at every k by every reader.

        Raises `NotThere` where nothing was searched before, and a `ProviderError` of a model.
        """
        readers = readers_of(self.suite, self._environment)
        try:
            answered = await Answering(
                dataset=self._manifest.dataset,
                questions=self._questions,
                searches=self._searches(self.suite.modes),
                readers=readers,
                cutoffs=self.suite.k,
                workspace=self.workspace,
                watcher=self._watcher,
                concurrency=AT_ONCE,
            ).run()
        finally:
            for reader in readers:
                await reader.close()
        return {"answered": answered}

    async def judge(self) -> Told:
        """Have every answer marked by every judge; without a judge model nothing is.

        Raises `NotThere` where nothing was answered before, and a `ProviderError`.
        """
        judges = judges_of(self.suite, self._environment)
        if not judges:
            self._watcher.note("No judge model, no J: name one with --judge-model PROVIDER/MODEL")
            return {"judged": 0}
        answers = self._answers(self.suite.modes)
        there = {one.configuration for one in self.workspace.answers}
        if not there.intersection(answers):
            raise NotThere("nothing was answered yet: run the stage answer before judge")
        try:
            judged = await Judging(
                dataset=self._manifest.dataset,
                questions=self._questions,
                answers=answers,
                judges=judges,
                runs=self.suite.runs,
                workspace=self.workspace,
                watcher=self._watcher,
                concurrency=AT_ONCE,
            ).run()
        finally:
            await judges[0].model.close()
        return {"judged": judged}

    def report(self) -> Reported:
        """Make the figures of all that was done; those of the first mode have to reach theirs."""
        modes = self.suite.modes
        return report(
            self.suite, self.workspace, self._systems(modes), main=self._systems(modes[:1])
        )

    def redo(self, stage: str) -> int:
        """Forget what a stage wrote of this data, and what came of it; return how much it was."""
        self._stores_anew = stage == "ingest"
        dataset = self.dataset.digest
        ledgers = self.workspace.from_stage(stage)
        return sum(ledger.forget(lambda one: one.dataset == dataset) for ledger in ledgers)

    async def _begun(self, reached: Reached) -> Configurations:
        """Write down what is measured, and return what decides its figures."""
        facts = await ServerFacts.of(reached.client, place=reached.place)
        assert self.survey.count, "it is read before anything is written down"
        self.workspace.keep(
            Manifest(
                version=version("agentengine"),
                server=facts.document,
                suite=self.suite.model_dump(mode="json"),
                dataset=self.dataset.digest,
                dataset_name=self.dataset.name,
                is_synthetic=self.dataset.is_synthetic,
                notes=tuple(self.dataset.notes),
            )
        )
        return Configurations(pipeline=self.pipeline, server=facts.document)

    def _forget_stored(self, configurations: Configurations) -> None:
        """Forget what was done with a memory that is not there any more."""
        ingestion = configurations.ingestion
        gone = self.workspace.ingests.forget(lambda one: one.configuration == ingestion)
        if gone:
            deepest = self.suite.deepest
            searches = {configurations.search(mode=m, depth=deepest) for m in self.suite.modes}
            self.workspace.searches.forget(lambda one: one.configuration in searches)
            self._watcher.note(
                f"The memory of {gone} conversations is not there any more: they are stored again"
            )

    def _check_stored(self, configurations: Configurations) -> None:
        wanted = (self.dataset.digest, configurations.ingestion)
        missing = [key for key in self.survey.turns if (*wanted, key) not in self.workspace.ingests]
        if missing:
            raise NotThere(
                f"{len(missing)} of {len(self.survey.turns)} conversations are not stored on this "
                "server: run the stage ingest before search, with the same options"
            )

    @cached_property
    def _manifest(self) -> Manifest:
        manifest = self.workspace.manifest()
        if manifest is None:
            raise NotThere(
                f"{self.workspace.directory} holds no evaluation: run the stages ingest and search"
            )
        return manifest

    @cached_property
    def _questions(self) -> Sequence[QuestionRecord]:
        """Those that count: nobody is paid to answer or to mark what no average has."""
        dataset, all_count = self._manifest.dataset, self.suite.with_adversarial
        return [
            one
            for one in self.workspace.questions
            if one.dataset == dataset and (all_count or not one.is_adversarial)
        ]

    def _systems(self, modes: Sequence[str]) -> Sequence[str]:
        """Return the configurations of everything that is done in these modes."""
        return [*self._searches(modes), *self._answers(modes), *self._judgements(modes)]

    def _searches(self, modes: Sequence[str]) -> Sequence[str]:
        """Return the configurations of searches; raises `NotThere` where one was not done."""
        configurations = Configurations(pipeline=self.pipeline, server=self._manifest.server)
        deepest = self.suite.deepest
        keys = {mode: configurations.search(mode=mode, depth=deepest) for mode in modes}
        there = {one.configuration for one in self.workspace.searches}
        missing = [mode for mode, key in keys.items() if key not in there]
        if missing:
            raise NotThere(
                f"nothing was searched by the pipeline {self.suite.pipeline} in mode "
                f"{', '.join(missing)} to the depth of {deepest}: run the stage search first"
            )
        return list(keys.values())

    def _answers(self, modes: Sequence[str]) -> Sequence[str]:
        readers = readers_of(self.suite, self._environment)
        return [
            answer_configuration(search, k, reader)
            for search in self._searches(modes)
            for reader in readers
            for k in self.suite.k
        ]

    def _judgements(self, modes: Sequence[str]) -> Sequence[str]:
        judges = judges_of(self.suite, self._environment)
        return [
            judge_configuration(answer, judge)
            for answer in self._answers(modes)
            for judge in judges
        ]


def absolute(suite: Suite, start: Path) -> Suite:
    """Return the suite with paths that mean the same wherever it is read."""
    data = suite.data
    paths: Mapping[str, Any] = {
        "path": start / data.path,
        "audit": start / data.audit if data.audit else None,
    }
    baselines = tuple(start / one for one in suite.baselines)
    return suite.model_copy(update={"data": data.model_copy(update=paths), "baselines": baselines})
