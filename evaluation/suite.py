"""What is to be measured: a suite.yaml, the options of a command, or both."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from evaluation.prompts import judge_names, reader_prompts
from evaluation.report.possible import (
    labels_of_answers,
    labels_of_judgements,
    labels_of_searches,
)
from evaluation.report.published import Published
from memory_server.project_config.explain import did_you_mean, listed

DEPTH = 50
"""How deep a search goes at the least unless a suite says otherwise."""
MAX_DEPTH = 200
"""What a server takes of one source."""
DEFAULT_K = (5, 10, 20)
T = TypeVar("T")

Mode = Literal["hybrid", "text", "semantic"]
PipelineName = Literal["turns", "blocks", "extracted", "mixed"]
DatasetName = Literal["locomo", "longmemeval", "own"]
ReaderName = Literal["extractive", "model"]
Provider = Literal["openai", "anthropic", "gemini", "cerebras"]


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str | int) and not isinstance(value, bool) else value


def _texts(value: Any) -> Any:
    """Take numbers for the texts that they are names of: `only: [26, 30]`."""
    listed = _as_list(value)
    if not isinstance(listed, list | tuple):
        return value
    return [str(one) if type(one) is int else one for one in listed]


def _once(values: tuple[T, ...]) -> tuple[T, ...]:
    """Take what is named twice once: it would be measured twice."""
    return tuple(dict.fromkeys(values))


def _known(kind: str, names: Callable[[], Sequence[str]]) -> AfterValidator:
    def check(values: tuple[str, ...]) -> tuple[str, ...]:
        for value in values:
            if value not in names():
                near = did_you_mean(value, names())
                raise ValueError(f"{value!r} is no {kind}; there are {listed(names())}{near}")
        return values

    return AfterValidator(check)


Listed = BeforeValidator(_as_list)
Once = AfterValidator(_once)
Names = Annotated[tuple[str, ...], BeforeValidator(_texts), Once]
Cutoff = Annotated[int, Field(ge=1, le=MAX_DEPTH)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class DataChoice(_Part):
    """Which data, and what of it."""

    dataset: DatasetName
    path: Path
    only: Names = ()
    """Conversations (LoCoMo, own), or question ids and types (LongMemEval); empty: all."""
    limit: Annotated[int, Field(ge=1)] | None = None
    """How many conversations, of the first."""
    audit: Path | None = None
    """A file of corrections to LoCoMo's answers and evidence."""
    without_known_errors: bool = False
    """Leave out LongMemEval's questions whose gold is known to be wrong."""


class ModelChoice(_Part):
    """A language model, and the name of the variable its key is in."""

    provider: Provider
    model: str
    base_url: str | None = None
    api_key_secret: str | None = None


class Suite(_Part):
    """A whole evaluation."""

    data: DataChoice
    pipeline: PipelineName = "turns"
    modes: Annotated[tuple[Mode, ...], Listed, Once, Field(min_length=1)] = ("hybrid",)
    k: Annotated[tuple[Cutoff, ...], Listed, Once, Field(min_length=1)] = DEFAULT_K
    depth: Cutoff | None = None
    """How many items a search asks for; without it 50, or the largest k."""
    rerank: bool = False
    """Have the server rerank what `mixed` finds."""
    readers: Annotated[tuple[ReaderName, ...], Listed, Once] = ("extractive",)
    """Who answers; empty: nobody, and retrieval alone is measured."""
    model: ModelChoice | None = None
    """The model of the reader `model`."""
    prompts: Annotated[Names, _known("prompt", reader_prompts)] = ()
    """Prompt variants of the reader `model`; empty: its default."""
    judges: Annotated[Names, _known("judge", judge_names)] = ()
    """Judge variants; empty: those of the data where there is a judge model."""
    judge_model: ModelChoice | None = None
    """Without it there is no J."""
    runs: Annotated[int, Field(ge=1, le=20)] = 1
    """How often each answer is judged."""
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    """Of the judge."""
    with_adversarial: bool = False
    """Count questions with a false premise in the averages."""
    baselines: Annotated[tuple[Path, ...], Listed] = ()
    """Directories of other runs to compare with."""
    published: tuple[Published, ...] = ()
    """Figures of others, to stand beside one's own."""
    fail_under: Mapping[str, float] = Field(default_factory=dict)
    """Figures that have to be reached: `recall@10: 0.75`."""

    @model_validator(mode="after")
    def _is_deep_enough(self) -> Self:
        if self.depth is not None and self.depth < max(self.k):
            raise ValueError(
                f"depth: {self.depth} is less than the largest k, {max(self.k)}: raise depth to it"
            )
        if "model" in self.readers and self.model is None:
            raise ValueError(
                "readers: the reader 'model' needs a model: name one under `model`, with its "
                "provider and model"
            )
        if self.judges and self.judge_model is None:
            raise ValueError(
                "judges: a judge needs a model: name one under `judge_model`, or take judges out"
            )
        if self.rerank and self.pipeline != "mixed":
            raise ValueError(
                f"rerank: only the pipeline mixed is reranked, and this is {self.pipeline}: take "
                "rerank out, or choose mixed"
            )
        return self

    @model_validator(mode="after")
    def _can_be_measured(self) -> Self:
        """Refuse a figure that has to be reached and cannot be: hours of work may lie before it."""
        names = list(labels_of_searches(self.k, self.deepest))
        names += labels_of_answers(self.k) if self.readers else ()
        names += labels_of_judgements(self.k) if self.readers and self.judge_model else ()
        for wanted in self.fail_under:
            name = wanted.partition("/")[0]
            if name not in names:
                cutoffs = ", ".join(map(str, self.k))
                raise ValueError(
                    f"fail_under: {name} is no figure of this suite{did_you_mean(name, names)}. "
                    f"A figure is named as recall@{max(self.k)}, session.hit@{max(self.k)} or "
                    f"recall@{max(self.k)}/CATEGORY, with a k of {cutoffs}"
                )
        return self

    @property
    def deepest(self) -> int:
        """How many items a search asks for: every smaller k is a slice of them."""
        return self.depth or max(DEPTH, *self.k)
