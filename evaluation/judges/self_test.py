"""What a judge is worth: answers of known worth are put to it.

A judge that lets vague answers pass gives every system that answers vaguely a score it has not
earned, so the rates are printed beside J.
"""

import random
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

import yaml

from evaluation.judges.judge import Judge
from evaluation.metrics.overlap import contained
from evaluation.records import QuestionRecord, SelfTestRecord

Kind = Literal["right", "specific", "vague"]
KINDS: Sequence[Kind] = ("right", "specific", "vague")
SAMPLED = 20
"""Questions of the data that are asked with answers of known worth, beside the own set."""
_SEED = 41
_VAGUE_BY_BEGINNING: Mapping[str, str] = {
    "when": "Some time ago, as far as they said",
    "where": "Somewhere that they mentioned",
    "who": "Somebody they know",
    "how many": "Several",
    "how long": "For quite a while",
    "how": "In the way they talked about",
    "why": "For reasons of their own",
}
_VAGUE = "Something they talked about"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One answer of known worth."""

    key: str
    kind: Kind
    source: Literal["own", "data"]
    question: QuestionRecord
    answer: str


def cases(questions: Sequence[QuestionRecord]) -> Sequence[Case]:
    """Return the own set and, where the data has answers, cases made of a sample of them."""
    return [*_own(), *_of_data(questions)]


async def self_test(
    judge: Judge, questions: Sequence[QuestionRecord]
) -> AsyncIterator[SelfTestRecord]:
    """Put all cases to a judge, one after the other. Raises a `ProviderError`."""
    for case in cases(questions):
        verdict = await judge.mark(case.question, case.answer)
        yield SelfTestRecord(
            judge=judge.name,
            model=judge.model.name,
            prompt_digest=judge.digest,
            temperature=judge.temperature,
            case=case.key,
            kind=case.kind,
            source=case.source,
            is_right=verdict.is_right,
            tokens_in=verdict.tokens_in,
            tokens_out=verdict.tokens_out,
        )


def _own() -> Iterator[Case]:
    text = files("evaluation.judges").joinpath("self_test.yaml").read_text(encoding="utf-8")
    for number, item in enumerate(yaml.safe_load(text)):
        question = QuestionRecord(
            dataset="own",
            question=f"own{number}",
            conversation="own",
            text=item["question"],
            category="own",
            answers=(item["gold"],),
        )
        for kind in KINDS:
            yield Case(
                key=f"own{number}-{kind}",
                kind=kind,
                source="own",
                question=question,
                answer=item[kind],
            )


def _of_data(questions: Sequence[QuestionRecord]) -> Iterator[Case]:
    usable = sorted(
        (question for question in questions if _is_usable(question)),
        key=lambda question: question.question,
    )
    chance = random.Random(_SEED)  # noqa: S311 - the same sample each time
    for question in chance.sample(usable, min(SAMPLED, len(usable))):
        answers: dict[Kind, str] = {"right": question.answers[0], "vague": _vague(question.text)}
        other = _other_answer(question, usable, chance)
        if other is not None:
            answers["specific"] = other
        for kind, answer in answers.items():
            yield Case(
                key=f"{question.question}-{kind}",
                kind=kind,
                source="data",
                question=question,
                answer=answer,
            )


def _is_usable(question: QuestionRecord) -> bool:
    return bool(question.answers) and not (
        question.is_abstention or question.is_adversarial or question.rubric
    )


def _other_answer(
    question: QuestionRecord, usable: Sequence[QuestionRecord], chance: random.Random
) -> str | None:
    """Return the answer of another question of the category that says something else."""
    gold = question.answers[0]
    others = [
        other.answers[0]
        for other in usable
        if other.category == question.category
        and not contained(other.answers[0], gold)
        and not contained(gold, other.answers[0])
    ]
    return chance.choice(others) if others else None


def _vague(text: str) -> str:
    asked = text.lower()
    found = (vague for start, vague in _VAGUE_BY_BEGINNING.items() if asked.startswith(start))
    return next(found, _VAGUE)
