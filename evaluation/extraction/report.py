"""From records to figures: a document, tables, and what was not reached."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.digests import digest_of
from evaluation.extraction.cases import Labelled
from evaluation.extraction.details import Detail, details
from evaluation.extraction.labels import TYPES
from evaluation.extraction.matching import compare
from evaluation.extraction.records import CaseRecord
from evaluation.extraction.scores import ALL, MADE_UP, MEASURES, Figure, figures
from evaluation.extraction.thresholds import missed
from evaluation.ledger import write_whole
from evaluation.report.labels import share
from evaluation.report.table import Table

DOCUMENT = "extraction.json"
HELD = "held"
"""The half that is shown in figures alone, unless somebody wants to see it and says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a run says, and where it is written down."""

    document: Mapping[str, Any]
    """The content of extraction.json."""
    tables: Sequence[Table]
    file: Path
    missed: Sequence[str]


def measure(
    cases: Sequence[Labelled],
    records: Sequence[CaseRecord],
    directory: Path,
    *,
    server: Mapping[str, Any],
    wanted: Mapping[str, float],
    shown: Collection[str],
    reveal: bool = False,
) -> Measured:
    """Compare, count and write down.

    `wanted` are figures to be reached, `shown` kinds of details; `reveal` shows them of the held
    half too. Raises `InvalidRequest` for a figure that there is not.
    """
    both = list(zip(cases, records, strict=True))
    compared = [(labelled.half, compare(labelled.case, record)) for labelled, record in both]
    found = figures(compared)
    told = [
        (half, detail)
        for half, one in compared
        for detail in details(one)
        if half != HELD or reveal
    ]
    counts = {
        half: Counter(
            detail.kind for name, one in compared if name == half for detail in details(one)
        )
        for half in dict.fromkeys(half for half, _ in compared)
    }
    made_up = {
        half: Counter(made.kind for name, one in compared if name == half for made in one.made_up)
        for half in counts
    }
    failed = [f"{record.case}: {reason}" for record in records for reason in record.failed]
    below = missed(found, wanted)
    document = {
        "cases": Counter(half for half, _ in compared),
        "cases_digest": digest_of([one.case.model_dump(mode="json") for one in cases]),
        "server": dict(server),
        "extractors": sorted({name for record in records for name in record.extractors}),
        "calls": sum(record.calls for record in records),
        "tokens": sum(record.tokens for record in records),
        "failed": failed,
        "figures": [one.model_dump() for one in found],
        "not_right": counts,
        "made_up": made_up,
        "details": [{"half": half, **detail.model_dump()} for half, detail in told],
        "missed": list(below),
    }
    path = directory / DOCUMENT
    write_whole(path, json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n")
    return Measured(
        document=document,
        tables=[*_tables(found, document), *_detail_tables(told, shown, counts, reveal=reveal)],
        file=path,
        missed=below,
    )


def _tables(found: Sequence[Figure], document: Mapping[str, Any]) -> Iterator[Table]:
    extractors = ", ".join(document["extractors"]) or "no extractor"
    for half, count in document["cases"].items():
        of_half = [one for one in found if one.half == half]
        whole = [one for one in of_half if (one.type, one.language) == (ALL, ALL)]
        yield Table(
            title=f"{half}: {count} cases, {extractors}",
            columns=("measure", "value", "95 %", "of"),
            rows=[
                (one.measure, _value(one), f"{share(one.low)} to {share(one.high)}", str(one.n))
                for one in whole
            ],
            notes=list(_notes(document, half)),
        )
        yield Table(
            title=f"{half}, by type and language: value (of how many)",
            columns=("", *MEASURES),
            rows=list(_rows(of_half)),
        )


def _notes(document: Mapping[str, Any], half: str) -> Iterator[str]:
    if kinds := document["made_up"][half]:
        yield "made up: " + ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    if failed := len(document["failed"]):
        yield f"{failed} jobs failed for good: what they would have remembered is missing"


def _rows(found: Sequence[Figure]) -> Iterator[Sequence[str]]:
    languages = dict.fromkeys(one.language for one in found if one.language != ALL)
    groups = [*((kind, ALL) for kind in TYPES), *((ALL, language) for language in languages)]
    for kind, language in groups:
        cells = {
            one.measure: f"{_value(one)} ({one.n})"
            for one in found
            if (one.type, one.language) == (kind, language)
        }
        if cells:
            name = kind if language == ALL else language
            yield (name, *(cells.get(measure, "") for measure in MEASURES))


def _value(one: Figure) -> str:
    return str(one.hits) if one.measure == MADE_UP else share(one.value)


def _detail_tables(
    told: Sequence[tuple[str, Detail]],
    shown: Collection[str],
    counts: Mapping[str, Mapping[str, int]],
    *,
    reveal: bool,
) -> Iterator[Table]:
    for kind in shown:
        rows = [(one.case, one.type, one.what) for _, one in told if one.kind == kind]
        hidden = 0 if reveal else counts.get(HELD, {}).get(kind, 0)
        notes = [f"and {hidden} in the held half, which nobody tunes to: --reveal shows them"]
        if rows or hidden:
            yield Table(
                title=kind, columns=("case", "type", "what"), rows=rows, notes=notes * bool(hidden)
            )
