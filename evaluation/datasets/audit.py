"""Corrections to LoCoMo's answers and evidence, as a published audit of its file lists them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import BaseModel

from evaluation.datasets.checking import checked
from evaluation.datasets.errors import InvalidDataset
from evaluation.datasets.json_items import read_items

_ORDER: Final = (26, 30, 41, 42, 43, 44, 47, 48, 49, 50)
"""LoCoMo's conversations as their file has them: the audit counts them from 0."""
_QUESTION: Final = re.compile(r"locomo_(\d)_qa(\d+)")


class _Entry(BaseModel):
    question_id: str
    question: str
    correct_answer: str | int | float
    correct_evidence: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What is right for one question."""

    question: str
    """Its text, by which one sees that the audit is of this file."""
    answer: str
    evidence: Sequence[str]


def read_corrections(path: Path) -> Mapping[str, Correction]:
    """Return the corrections by question key."""
    corrections = {}
    for number, item in read_items(path):
        place = f"{path}: entry {number}"
        entry = checked(_Entry, item, place, fix="It should be the audit's errors.json")
        corrections[_key(entry.question_id, place)] = Correction(
            question=entry.question,
            answer=str(entry.correct_answer),
            evidence=tuple(entry.correct_evidence),
        )
    return corrections


def refuse_another_gold(correction: Correction, key: str, question: str) -> None:
    """Raise InvalidDataset where the audit speaks of another question by this key."""
    if correction.question != question:
        raise InvalidDataset(
            f"The audit's {key} asks {correction.question!r} and the data's {question!r}: "
            "leave the audit out, or take the one of this version of the data"
        )


def _key(name: str, place: str) -> str:
    found = _QUESTION.fullmatch(name)
    if not found:
        raise InvalidDataset(
            f"{place}: question_id is {name!r} and should be such as 'locomo_0_qa12': "
            "it should be the audit's errors.json"
        )
    return f"conv-{_ORDER[int(found[1])]}/q{int(found[2])}"
