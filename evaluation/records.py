"""What the stages write, one JSON object a line, and what a later stage or a report reads."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A line of a stage's file; unknown fields are a fault of the file, not of its reader."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class QuestionRecord(Record):
    """A question and what is right, so that a report needs no data file."""

    dataset: str
    """Digest of the data."""
    question: str
    conversation: str
    text: str
    category: str
    answers: Sequence[str] = ()
    rubric: str | None = None
    evidence: Sequence[str] = ()
    """Keys of turns, sorted."""
    sessions: Sequence[str] = ()
    stale: Sequence[str] = ()
    is_abstention: bool = False
    is_adversarial: bool = False
    asked_at: datetime | None = None


class IngestRecord(Record):
    """One conversation that is in the server's memory whole, with all background work done."""

    dataset: str
    configuration: str
    """Digest of what decides what is stored: pipeline, server's configuration, loader's version."""
    conversation: str
    turns: int
    stored: Mapping[str, int]
    """What it became, by source: turns, blocks, memories."""
    exchanges: Mapping[str, str]
    """The exchange of each turn, by turn key."""
    seconds: float
    timing: Mapping[str, Sequence[float]] = {}
    """Milliseconds of each call, by stage: record, validate, embed, write, extract."""
    calls: int = 0
    """Calls of a model that extraction made, those that failed among them."""
    tokens: int = 0
    """That the model read for it."""
    tokens_out: int = 0
    """That it wrote."""


class FoundItem(Record):
    """One item that a search brought."""

    id: str
    source: str
    """`stm`, `block`, or a memory type."""
    content: str
    score: float | None
    turns: Sequence[str] = ()
    """Keys of the turns it is or rests on."""
    sessions: Sequence[str] = ()
    tokens: int
    """Of its content, by the server's tokenizer or its documented estimate."""
    at: datetime | None = None


class SearchRecord(Record):
    """One search of one question, as deep as the deepest k; smaller k are slices of it."""

    dataset: str
    configuration: str
    """Digest of ingestion and of what decides the order: pipeline, mode, depth, rerank, server."""
    question: str
    pipeline: str
    mode: str
    depth: int
    found: Sequence[FoundItem]
    timing: Mapping[str, float]
    """Milliseconds by stage; `total` is what the caller waited."""
    is_cold: bool = False
    """Whether it was among the first of its server, before caches were warm."""


class AnswerRecord(Record):
    """One answer from what a search brought, cut at k."""

    dataset: str
    configuration: str
    """Digest of the search, k, reader, model and prompt."""
    question: str
    search: str
    """`configuration` of the search it read."""
    k: int
    reader: str
    """`extractive`, or provider and model."""
    prompt: str
    """Name of the prompt variant; empty for the extractive reader."""
    prompt_digest: str
    answer: str
    tokens_in: int = 0
    tokens_out: int = 0
    milliseconds: float


class JudgementRecord(Record):
    """One verdict of one judge in one of its runs."""

    dataset: str
    configuration: str
    """Digest of the answer, judge, model, temperature and prompt."""
    question: str
    answer: str
    """`configuration` of the answer it read."""
    judge: str
    """A variant (locomo_generous, lme_update ...), or the family that picks one by question."""
    model: str
    prompt_digest: str
    """Of all the variants it may pick."""
    temperature: float
    run: int
    is_right: bool | None
    """None where the judge's reply could not be read; it counts as wrong and is told apart."""
    reply: str
    tokens_in: int = 0
    tokens_out: int = 0
    milliseconds: float


class SelfTestRecord(Record):
    """One answer of known worth, put to a judge to see what the judge is worth."""

    judge: str
    model: str
    prompt_digest: str
    temperature: float
    case: str
    kind: Literal["right", "specific", "vague"]
    """A right answer, a wrong one that is definite, or a wrong one that commits to nothing."""
    source: Literal["own", "data"]
    """From the small set that is part of this package, or made from the data's own answers."""
    is_right: bool | None
    """What the judge said; None where its reply could not be read."""
    tokens_in: int = 0
    tokens_out: int = 0


class Manifest(Record):
    """What a directory of records was made of."""

    version: str
    """Of this product."""
    server: Mapping[str, Any]
    """What the server says of itself: version, configuration, embedding space, tokenizer."""
    suite: Mapping[str, Any]
    """The whole suite, as it was resolved."""
    dataset: str
    dataset_name: str
    is_synthetic: bool
    notes: Sequence[str] = ()
