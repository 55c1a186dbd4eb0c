"""From the records to figures: a document, a page, tables, and what was not reached."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.ledger import write_whole
from evaluation.report.comparison import comparisons, comparisons_within
from evaluation.report.measure import measure
from evaluation.report.measured import Measured
from evaluation.report.page import render
from evaluation.report.table import Table
from evaluation.report.tables import Tables
from evaluation.suite import Suite
from evaluation.thresholds import Missed, missed
from evaluation.workspace import Workspace

DOCUMENT, PAGE = "report.json", "report.html"
NO_JUDGE = "no J: no judge model configured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """What a directory says, and where it is written down."""

    document: Mapping[str, Any]
    """The content of report.json."""
    tables: Sequence[Table]
    files: Sequence[str]
    missed: Sequence[Missed]


def report(
    suite: Suite, workspace: Workspace, systems: Sequence[str], *, main: Sequence[str]
) -> Reported:
    """Measure a directory and write it down.

    `systems` are those of this run, by key; `main` are those that have to reach `fail_under`.

    Raises `RecordsDamaged`, and `Incomparable` for a baseline of other data.
    """
    measured = _measured(workspace.directory, suite, systems)
    compared = [comparisons(_measured(base, suite), measured) for base in suite.baselines]
    tables = Tables(
        measured=measured,
        published=suite.published,
        comparisons=[
            *comparisons_within(measured),
            *(one for found, _ in compared for one in found),
        ],
        refused=[reason for _, reasons in compared for reason in reasons],
    )
    below = missed(measured, suite.fail_under, main)
    document = {
        "systems_of_this_run": list(systems),
        "remarks": [] if suite.judge_model else [NO_JUDGE],
        "missed": [str(one) for one in below],
        "comparisons": [one.model_dump(mode="json") for one in tables.comparisons],
        "not_compared": list(tables.refused),
        **measured.model_dump(mode="json"),
    }
    content = {DOCUMENT: _json(document), PAGE: render(tables).encode()}
    for name, written in content.items():
        write_whole(workspace.directory / name, written)
    return Reported(
        document=document,
        tables=tables.all(),
        files=[str(workspace.directory / name) for name in content],
        missed=below,
    )


def _measured(directory: Path, suite: Suite, current: Sequence[str] = ()) -> Measured:
    return measure(
        directory, cutoffs=suite.k, with_adversarial=suite.with_adversarial, current=current
    )


def _json(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n"
