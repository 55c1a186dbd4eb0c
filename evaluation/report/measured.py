"""What was measured: figures with their intervals, and the scores of each question behind them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from evaluation.records import Manifest

MICRO = "micro"
"""All questions that count, each with the same weight."""
MACRO = "macro"
"""All categories, each with the same weight."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What a score says: `recall` of `turn` within the first 10 items, or within 500 tokens."""

    name: str
    level: str = ""
    k: int | None = None
    tokens: int | None = None

    @property
    def label(self) -> str:
        """As it is written in a table and in `--fail-under`: `recall@10`, `session.hit@500t`."""
        level = "" if self.level in {"", "turn"} else f"{self.level}."
        cutoff = f"@{self.k}" if self.k is not None else ""
        budget = f"@{self.tokens}t" if self.tokens is not None else ""
        return f"{level}{self.name}{cutoff}{budget}"


class Part(BaseModel):
    """A part of a report; its JSON is read by programs."""

    model_config = ConfigDict(frozen=True)


class System(Part):
    """One configuration that was measured; two of them are never averaged together."""

    key: str
    """Digest of its configuration: of the search, the answer, or the judgement."""
    label: str
    """Short and unique in its report."""
    stage: str
    """`search`, `answer`, or `judge`."""
    dataset: str
    pipeline: str
    mode: str
    k: int | None = None
    """Items an answer was made of; None for a search, whose figures name their own."""
    reader: str = ""
    prompt: str = ""
    prompt_digest: str = ""
    judge: str = ""
    judge_model: str = ""
    judge_prompt_digest: str = ""
    temperature: float | None = None
    search: str = ""
    """Key of the search it rests on; its own for a search."""
    asked: int
    """Questions that were put to it."""
    missing: int
    """Questions of the data that it has no record of: the run is not complete."""


class Figure(Part):
    """One mean over questions, with its interval at 95 %."""

    system: str
    measure: str
    """Label of the measure."""
    name: str
    level: str
    k: int | None
    tokens: int | None
    category: str
    """`micro`, `macro`, or a category as the data names it."""
    value: float
    n: int
    """Questions it is the mean of; for `macro`, categories."""
    low: float | None = None
    high: float | None = None
    cluster_low: float | None = None
    """Interval by drawing whole conversations."""
    cluster_high: float | None = None


class LeftOut(Part):
    """Questions that no average counts, and why."""

    reason: str
    questions: int
    retrieval_only: bool
    """Whether their answers count and only their retrieval is not defined."""


class Measured(Part):
    """All that a directory of records says."""

    manifest: Manifest
    categories: Mapping[str, int]
    """Questions of each category, as the data has them, adversarial ones too."""
    left_out: Sequence[LeftOut]
    foreign: int
    """Records of other data that lie in the same directory and are not counted."""
    systems: Sequence[System]
    figures: Sequence[Figure]
    scores: Mapping[str, Mapping[Measure, Mapping[str, float]]] = Field(exclude=True, repr=False)
    """Of each system, by measure and question: what a comparison pairs."""
    conversations: Mapping[str, str] = Field(exclude=True, repr=False)
    """The conversation of each question."""

    def figure(
        self, measure: Measure, *, system: str | None = None, category: str = MICRO
    ) -> Figure | None:
        """Find a figure of one system, or of the first system that has it."""
        found = (
            figure
            for figure in self.figures
            if figure.measure == measure.label
            and figure.category == category
            and system in {None, figure.system}
        )
        return next(found, None)
