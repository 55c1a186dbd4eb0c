"""What it took: milliseconds by stage, tokens and calls."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

import numpy as np

from evaluation.records import AnswerRecord, IngestRecord, JudgementRecord, SearchRecord
from evaluation.report.measured import Cost, Latency

_PERCENTILES = (50, 95, 99)


def ingest_latencies(ingests: Sequence[IngestRecord]) -> Iterator[Latency]:
    """Percentiles of each stage of recording, over all calls of all conversations."""
    stages: dict[str, list[float]] = {}
    for ingest in ingests:
        for stage, milliseconds in ingest.timing.items():
            stages.setdefault(stage, []).extend(milliseconds)
    for stage, values in stages.items():
        yield from _latency("ingest", stage, "all", values)


def search_latencies(system: str, searches: Iterable[SearchRecord]) -> Iterator[Latency]:
    """Percentiles of each stage of a search; those before caches were warm are apart."""
    stages: dict[tuple[str, str], list[float]] = {}
    for search in searches:
        warmth = "cold" if search.is_cold else "warm"
        for stage, milliseconds in search.timing.items():
            stages.setdefault((stage, warmth), []).append(milliseconds)
    for (stage, warmth), values in sorted(stages.items(), key=_total_last):
        yield from _latency(system, stage, warmth, values)


def call_latencies(
    system: str, stage: str, calls: Iterable[AnswerRecord | JudgementRecord]
) -> Iterator[Latency]:
    """Percentiles of answering or judging."""
    yield from _latency(system, stage, "all", [call.milliseconds for call in calls])


def ingest_cost(ingests: Sequence[IngestRecord]) -> Cost:
    """Add up what it took to remember all conversations."""
    stored: dict[str, int] = {}
    for ingest in ingests:
        for source, count in ingest.stored.items():
            stored[source] = stored.get(source, 0) + count
    return Cost(
        system="ingest",
        n=len(ingests),
        calls=sum(ingest.calls for ingest in ingests),
        tokens_in=sum(ingest.tokens for ingest in ingests),
        seconds=sum(ingest.seconds for ingest in ingests),
        stored=stored,
    )


def search_cost(system: str, searches: Sequence[SearchRecord], cutoffs: Sequence[int]) -> Cost:
    """How many tokens the first k items fill a prompt with, in the mean."""
    context = {
        k: fmean(sum(item.tokens for item in search.found[:k]) for search in searches)
        for k in cutoffs
    }
    return Cost(system=system, n=len(searches), context_tokens=context)


def call_cost(system: str, calls: Sequence[AnswerRecord | JudgementRecord]) -> Cost:
    """Tokens that a model read and wrote; nothing where no model was asked."""
    return Cost(
        system=system,
        n=len(calls),
        calls=sum(call.tokens_in + call.tokens_out > 0 for call in calls),
        tokens_in=sum(call.tokens_in for call in calls),
        tokens_out=sum(call.tokens_out for call in calls),
    )


def _latency(system: str, stage: str, warmth: str, values: Sequence[float]) -> Iterator[Latency]:
    if not values:
        return
    p50, p95, p99 = (float(value) for value in np.percentile(values, _PERCENTILES))
    yield Latency(
        system=system, stage=stage, warmth=warmth, n=len(values), p50=p50, p95=p95, p99=p99
    )


def _total_last(entry: tuple[tuple[str, str], Sequence[float]]) -> tuple[bool, str, str]:
    (stage, warmth), _ = entry
    return warmth == "cold", "~" if stage == "total" else stage, stage
