"""The questions of `reranking_set.txt`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Labelled:
    """A question, what answers it, and turns of the same talk that do not."""

    question: str
    answer: str
    others: tuple[str, ...]


def read() -> Mapping[str, Sequence[Labelled]]:
    """Return the questions by kind: where words lead to the answer, and where they mislead."""
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    _, *parts = text.split("\n## ")
    return {
        title: [_labelled(block) for block in questions.strip().split("\n\n")]
        for title, _, questions in (part.partition("\n") for part in parts)
    }


def _labelled(block: str) -> Labelled:
    lines = [(line[0], line[2:]) for line in block.splitlines()]
    (question,) = (text for mark, text in lines if mark == "?")
    (answer,) = (text for mark, text in lines if mark == "=")
    return Labelled(question, answer, tuple(text for mark, text in lines if mark == "-"))
