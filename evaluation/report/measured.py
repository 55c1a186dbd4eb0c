"""What was measured: figures with their intervals, and the scores of each question behind them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from evaluation.records import Manifest

MICRO = "micro"
"""All questions that count, each with the same weight."""
MACRO = "macro"
"""All categories, each with the same weight."""


def middle_of(cutoffs: Sequence[int]) -> int:
    """Return the k that is told of where only one is: 10, or the largest."""
    return 10 if 10 in cutoffs else max(cutoffs)


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
    depth: int
    """Items that a search asked for."""
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


class Latency(Part):
    """Milliseconds of one stage."""

    system: str
    """Key of the system, or `ingest`."""
    stage: str
    warmth: str
    """`cold`, `warm`, or `all` where the two are not told apart."""
    n: int
    p50: float
    p95: float
    p99: float


class Cost(Part):
    """What one system took, in all; `context_tokens` is a mean by k."""

    system: str
    """Key of the system, or `ingest`."""
    n: int
    """Conversations, searches, answers or verdicts."""
    calls: int = 0
    """Of a model."""
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float | None = None
    stored: Mapping[str, int] = {}
    context_tokens: Mapping[int, float] = {}


class Gap(Part):
    """Whether the best score tells answerable questions from those that cannot be answered."""

    system: str
    answerable: int
    unanswerable: int
    gap: float
    separation: float
    """Share of pairs in the right order; 0.5 is chance."""


class Rate(Part):
    """How many of a kind a judge called right."""

    passed: int
    n: int

    @property
    def share(self) -> float:
        """Return it as a share; 0 of none."""
        return self.passed / self.n if self.n else 0.0


class SelfTest(Part):
    """How a judge marked answers of known worth. The last two are its false positives."""

    right: Rate
    specific: Rate
    vague: Rate
    unreadable: int


class Judged(Part):
    """One judge's runs."""

    system: str
    runs: Sequence[float]
    """J of each run."""
    unreadable: int
    """Verdicts that could not be read; they count as wrong."""
    verdicts: int
    self_test: SelfTest | None


class Lost(Part):
    """One question whose evidence was not found within k, with the reason for each turn."""

    system: str
    question: str
    text: str
    category: str
    answers: Sequence[str]
    k: int
    recall: float
    reasons: Mapping[str, str]
    """Why, by evidence turn."""
    retrieved: Sequence["Retrieved"]


class Retrieved(Part):
    """An item that was found in place of what was wanted, or beside it."""

    rank: int
    source: str
    content: str
    """Its beginning."""
    is_evidence: bool
    score: float | None


class Reason(Part):
    """How many turns of evidence were not found within k for one reason."""

    system: str
    k: int
    reason: str
    turns: int
    examples: Sequence[str]
    """Questions."""


class LeftOut(Part):
    """Questions that no average counts, and why."""

    reason: str
    questions: int
    retrieval_only: bool
    """Whether their answers count and only their retrieval is not defined."""


class Measured(Part):
    """All that a directory of records says."""

    name: str
    """Of the directory: what its run is called beside others."""
    manifest: Manifest
    categories: Mapping[str, int]
    """Questions of each category, as the data has them, adversarial ones too."""
    left_out: Sequence[LeftOut]
    foreign: int
    """Records of other data that lie in the same directory and are not counted."""
    with_adversarial: bool
    cutoffs: Sequence[int]
    budgets: Sequence[int]
    """Of tokens."""
    systems: Sequence[System]
    figures: Sequence[Figure]
    gaps: Sequence[Gap]
    judged: Sequence[Judged]
    latencies: Sequence[Latency]
    costs: Sequence[Cost]
    reasons: Sequence[Reason]
    lost: Sequence[Lost]
    """The worst questions of each search."""
    scores: Mapping[str, Mapping[Measure, Mapping[str, float]]] = Field(exclude=True, repr=False)
    """Of each system, by measure and question: what a comparison pairs."""
    conversations: Mapping[str, str] = Field(exclude=True, repr=False)
    """The conversation of each question."""
    question_categories: Mapping[str, str] = Field(exclude=True, repr=False)

    @property
    def middle(self) -> int:
        """Return the k that is told of where only one is."""
        return middle_of(self.cutoffs)

    def system(self, key: str) -> System:
        """Return the system of a key."""
        return next(system for system in self.systems if system.key == key)

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
