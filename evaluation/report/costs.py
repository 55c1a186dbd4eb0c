"""What it took: milliseconds by stage, tokens and calls."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

import numpy as np

from evaluation.records import AnswerRecord, IngestRecord, JudgementRecord, SearchRecord
from evaluation.report.measured import Cost, Latency

_PERCENTILES = (50, 95, 99)


def ingest_latencies(ingests: Sequence[IngestRecord]) -> Iterator[Latency]:
    """Percentiles of each stage of recording, over all calls of all conversations."""
    for name, records in _by_configuration(ingests).items():
        stages: dict[str, list[float]] = {}
        for ingest in records:
            for stage, milliseconds in ingest.timing.items():
                stages.setdefault(stage, []).extend(milliseconds)
        for stage, values in stages.items():
            yield from _latency(name, stage, "all", values)


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


def ingest_costs(ingests: Sequence[IngestRecord]) -> Iterator[Cost]:
    """Add up what it took to remember all conversations, for each way to do it."""
    for name, records in _by_configuration(ingests).items():
        stored: Counter[str] = Counter()
        for ingest in records:
            stored.update(ingest.stored)
        yield Cost(
            system=name,
            n=len(records),
            calls=sum(ingest.calls for ingest in records),
            tokens_in=sum(ingest.tokens for ingest in records),
            tokens_out=sum(ingest.tokens_out for ingest in records),
            seconds=sum(ingest.seconds for ingest in records),
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


def _by_configuration(ingests: Sequence[IngestRecord]) -> dict[str, list[IngestRecord]]:
    """Name what was stored in one way `ingest`; where there were several, by their digests."""
    found: dict[str, list[IngestRecord]] = {}
    for ingest in ingests:
        found.setdefault(ingest.configuration, []).append(ingest)
    if len(found) == 1:
        return {"ingest": list(ingests)}
    return {f"ingest #{key[:6]}": records for key, records in found.items()}


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
