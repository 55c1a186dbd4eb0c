"""Which configurations the records are of, each under a short name of its own."""

from collections import Counter
from collections.abc import Mapping, Set

from evaluation.records import AnswerRecord, JudgementRecord, SearchRecord
from evaluation.report.measured import System
from evaluation.report.reading import Records

_SHORT = 6


def systems_of(records: Records, counted: Set[str]) -> list[System]:
    """Describe every search, answer and judgement configuration, in the order of their files."""
    found = [_search(key, of, counted) for key, of in records.searches.items()]
    found += [_answer(records, key, of, counted) for key, of in records.answers.items()]
    for key, judged in records.judgements.items():
        first = next(iter(next(iter(judged.values()))))
        found.append(_judge(records, key, first, judged.keys(), counted))
    times = Counter((system.stage, system.label) for system in found)
    return [
        system
        if times[system.stage, system.label] == 1
        else system.model_copy(update={"label": f"{system.label} #{system.key[:_SHORT]}"})
        for system in found
    ]


def _search(key: str, searches: Mapping[str, SearchRecord], counted: Set[str]) -> System:
    first = next(iter(searches.values()))
    return System(
        key=key,
        label=f"{first.pipeline}/{first.mode}",
        stage="search",
        dataset=first.dataset,
        pipeline=first.pipeline,
        mode=first.mode,
        depth=first.depth,
        search=key,
        asked=len(searches.keys() & counted),
        missing=len(counted - searches.keys()),
    )


def _answer(
    records: Records, key: str, answers: Mapping[str, AnswerRecord], counted: Set[str]
) -> System:
    first = next(iter(answers.values()))
    searched = _searched(records, first.search)
    prompt = f" {first.prompt}" if first.prompt else ""
    return System(
        key=key,
        label=f"{searched[0]}/{searched[1]} k={first.k} {first.reader}{prompt}",
        stage="answer",
        dataset=first.dataset,
        pipeline=searched[0],
        mode=searched[1],
        depth=searched[2],
        search=first.search,
        k=first.k,
        reader=first.reader,
        prompt=first.prompt,
        prompt_digest=first.prompt_digest,
        asked=len(answers.keys() & counted),
        missing=len(counted - answers.keys()),
    )


def _judge(
    records: Records, key: str, first: JudgementRecord, judged: Set[str], counted: Set[str]
) -> System:
    answered = records.answers.get(first.answer, {})
    base = _answer(records, first.answer, answered, counted) if answered else None
    label = f"{base.label}: {first.judge} by {first.model}" if base else first.judge
    of_answer = base.model_dump() if base else {"pipeline": "", "mode": "", "depth": 0}
    return System.model_validate(
        of_answer
        | {
            "key": key,
            "label": label,
            "stage": "judge",
            "dataset": first.dataset,
            "judge": first.judge,
            "judge_model": first.model,
            "judge_prompt_digest": first.prompt_digest,
            "temperature": first.temperature,
            "answer": first.answer,
            "asked": len(judged & counted),
            "missing": len(counted - judged),
        }
    )


def _searched(records: Records, key: str) -> tuple[str, str, int]:
    searches = records.searches.get(key)
    if not searches:
        return "?", "?", 0
    first = next(iter(searches.values()))
    return first.pipeline, first.mode, first.depth
