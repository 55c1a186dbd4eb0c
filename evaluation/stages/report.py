"""From the records to figures: a document for programs, and what was not reached."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.ledger import write_whole
from evaluation.report.measure import measure
from evaluation.report.measured import Measured
from evaluation.suite import Suite
from evaluation.thresholds import Missed, missed
from evaluation.workspace import Workspace

DOCUMENT = "report.json"
NO_JUDGE = "no J: no judge model configured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """What a directory says, and where it is written down."""

    measured: Measured
    document: Mapping[str, Any]
    """The content of report.json."""
    files: Sequence[str]
    missed: Sequence[Missed]


def report(suite: Suite, workspace: Workspace, systems: Sequence[str]) -> Reported:
    """Measure a directory and write it down; `systems` are those of this run, by key.

    Raises `RecordsDamaged`, and `NotThere` for a figure that has to be reached and was not
    measured.
    """
    measured = measure(
        workspace.directory, cutoffs=suite.k, with_adversarial=suite.with_adversarial
    )
    below = missed(measured, suite.fail_under, systems)
    document = {
        "systems_of_this_run": list(systems),
        "remarks": [] if suite.judge_model else [NO_JUDGE],
        "missed": [str(one) for one in below],
        **measured.model_dump(mode="json"),
    }
    path = workspace.directory / DOCUMENT
    write_whole(path, _json(document))
    return Reported(measured=measured, document=document, files=[str(path)], missed=below)


def _json(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n"
