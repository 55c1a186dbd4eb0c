"""What each step of a search for what was said is worth, and what it takes.

    python -m benchmarks.ablation --data PATH [--only 26,30] [--unit turns|blocks] [--no-rerank]

PATH is LoCoMo's file, which is nobody's to give on. Its conversations are recorded by a server's
services in a directory that is gone afterwards, with the built-in model. Every question but the
adversarial ones that names evidence is put to both legs once; each row takes one step away from
the shipped order, or adds one to it. Recall is of evidence; the difference to the shipped order is
paired by question, with an interval drawn from them. Milliseconds are the median from the question
to the order, one part after the other and without HTTP; what only computes is told in time of its
processor, so that the order in which steps are tried makes no difference.

Exit status 1 if the shipped order measured here is not that of the server's own search.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.ablation.asking import Asking, Outcome
from benchmarks.ablation.steps import Step, Unit, steps_of
from benchmarks.ablation.table import lines_of
from benchmarks.ablation.world import world_of
from evaluation.conversations import Conversation, Question
from evaluation.datasets.opening import open_dataset

TOLD_EVERY = 100
"""Questions between two signs of life."""


def main() -> int:
    """Measure, print, and say whether the shipped order is what was measured."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", default="", help="conversations by number, as 26,30")
    parser.add_argument("--unit", type=Unit, choices=list(Unit), default=Unit.TURNS)
    parser.add_argument("--rerank", action=argparse.BooleanOptionalAction, default=True)
    given = parser.parse_args()
    only = [name for name in given.only.split(",") if name]
    steps = steps_of(given.unit, reranks=given.rerank)
    conversations, questions = _read(given.data, only)
    with tempfile.TemporaryDirectory() as directory:
        outcomes = asyncio.run(
            _measure(Path(directory), given.unit, steps, conversations, questions)
        )
    print(f"{len(outcomes)} questions over {len(conversations)} conversations, {given.unit}\n")
    print("\n".join(lines_of(outcomes, steps)))
    others = sum(not one.is_as_served for one in outcomes)
    print(f"\n{others} questions whose order is not that of the server's own search")
    return 1 if others else 0


def _read(data: Path, only: Sequence[str]) -> tuple[Sequence[Conversation], Sequence[Question]]:
    """Return the conversations, and the questions that retrieval is defined for."""
    conversations, questions = [], []
    for conversation, asked in open_dataset("locomo", data, only=only).conversations():
        conversations.append(conversation)
        questions += [one for one in asked if one.evidence and not one.is_adversarial]
    return conversations, questions


async def _measure(
    directory: Path,
    unit: Unit,
    steps: Sequence[Step],
    conversations: Sequence[Conversation],
    questions: Sequence[Question],
) -> Sequence[Outcome]:
    outcomes: list[Outcome] = []
    async with world_of(directory, unit, conversations) as world:
        _tell(f"recorded; {len(questions)} questions")
        async for outcome in Asking(world, steps).ask(questions):
            outcomes.append(outcome)
            if len(outcomes) % TOLD_EVERY == 0:
                _tell(f"{len(outcomes)} asked")
    return outcomes


def _tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
