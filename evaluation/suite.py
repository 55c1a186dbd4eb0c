"""What is to be measured: a suite.yaml, the options of a command, or both."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from evaluation.report.published import Published

DEPTH = 50
"""How deep a search goes at the least unless a suite says otherwise."""
MAX_DEPTH = 200
"""What a server takes of one source."""
DEFAULT_K = (5, 10, 20)

Mode = Literal["hybrid", "text", "semantic"]
PipelineName = Literal["turns", "blocks", "extracted", "mixed"]
DatasetName = Literal["locomo", "longmemeval", "own"]
Provider = Literal["openai", "anthropic", "gemini", "cerebras"]


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str | int) and not isinstance(value, bool) else value


def _texts(value: Any) -> Any:
    """Take numbers for the texts that they are names of: `only: [26, 30]`."""
    listed = _as_list(value)
    if not isinstance(listed, list | tuple):
        return value
    return [str(one) if type(one) is int else one for one in listed]


Names = Annotated[tuple[str, ...], BeforeValidator(_texts)]
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
    modes: Annotated[tuple[Mode, ...], BeforeValidator(_as_list), Field(min_length=1)] = ("hybrid",)
    k: Annotated[tuple[Cutoff, ...], BeforeValidator(_as_list), Field(min_length=1)] = DEFAULT_K
    depth: Cutoff | None = None
    """How many items a search asks for; without it 50, or the largest k."""
    rerank: bool = False
    """Have the server rerank what `mixed` finds."""
    readers: Annotated[tuple[Literal["extractive", "model"], ...], BeforeValidator(_as_list)] = (
        "extractive",
    )
    """Who answers; empty: nobody, and retrieval alone is measured."""
    model: ModelChoice | None = None
    """The model of the reader `model`."""
    prompts: Names = ()
    """Prompt variants of the reader `model`; empty: its default."""
    judges: Names = ()
    """Judge variants; empty: those of the data where there is a judge model."""
    judge_model: ModelChoice | None = None
    """Without it there is no J."""
    runs: Annotated[int, Field(ge=1, le=20)] = 1
    """How often each answer is judged."""
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    """Of the judge."""
    with_adversarial: bool = False
    """Count questions with a false premise in the averages."""
    baselines: Annotated[tuple[Path, ...], BeforeValidator(_as_list)] = ()
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

    @property
    def deepest(self) -> int:
        """How many items a search asks for: every smaller k is a slice of them."""
        return self.depth or max(DEPTH, *self.k)
