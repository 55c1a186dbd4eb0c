"""A directory of the stages' records, read into memory by what they are records of."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from evaluation.errors import RecordsDamaged
from evaluation.records import (
    AnswerRecord,
    IngestRecord,
    JudgementRecord,
    Manifest,
    QuestionRecord,
    Record,
    SearchRecord,
    SelfTestRecord,
)

_R = TypeVar("_R", bound=Record)
_Keyed = IngestRecord | SearchRecord | AnswerRecord | JudgementRecord
_K = TypeVar("_K", bound=_Keyed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """Everything of the manifest's data; the newest where a line was written twice."""

    manifest: Manifest
    questions: Mapping[str, QuestionRecord]
    ingests: Sequence[IngestRecord]
    searches: Mapping[str, Mapping[str, SearchRecord]]
    """By configuration, then by question."""
    answers: Mapping[str, Mapping[str, AnswerRecord]]
    judgements: Mapping[str, Mapping[str, Sequence[JudgementRecord]]]
    """By configuration, then by question: one record for each run."""
    self_tests: Sequence[SelfTestRecord]
    foreign: int
    """Lines of other data."""

    def exchanges(self) -> Mapping[str, Mapping[str, str]]:
        """Tell the exchange of each turn, by conversation."""
        return {ingest.conversation: ingest.exchanges for ingest in self.ingests}


def read_records(directory: Path) -> Records:
    """Read a directory.

    Raises:
        RecordsDamaged: it has no manifest, or a line is not what its file holds.

    """
    manifest = _read_manifest(directory / "manifest.json")
    questions = list(_read(directory / "questions.jsonl", QuestionRecord))
    own = [question for question in questions if question.dataset == manifest.dataset]
    ingests, other_ingests = _own(manifest, _read(directory / "ingest.jsonl", IngestRecord))
    searches, other_searches = _own(manifest, _read(directory / "search.jsonl", SearchRecord))
    answers, other_answers = _own(manifest, _read(directory / "answers.jsonl", AnswerRecord))
    judged, other_judged = _own(manifest, _read(directory / "judgements.jsonl", JudgementRecord))
    others = other_ingests + other_searches + other_answers + other_judged
    return Records(
        manifest=manifest,
        questions={question.question: question for question in own},
        ingests=ingests,
        searches=_by_question(searches),
        answers=_by_question(answers),
        judgements=_by_run(judged),
        self_tests=list(_read(directory / "self_test.jsonl", SelfTestRecord)),
        foreign=others + len(questions) - len(own),
    )


def _read_manifest(path: Path) -> Manifest:
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise RecordsDamaged(
            f"{path.parent} holds no evaluation: {path.name} is not there"
        ) from None
    except ValidationError as error:
        raise RecordsDamaged(f"{path}: {_first(error)}") from error


def _read(path: Path, kind: type[_R]) -> Iterator[_R]:
    if not path.exists():
        return
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                # Of a stage that was killed, or writes at this moment: the work is done again.
                return
            try:
                yield kind.model_validate_json(line)
            except ValidationError as error:
                raise RecordsDamaged(f"{path}, line {number}: {_first(error)}") from error


def _first(error: ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}" if place else first["msg"]


def _own(manifest: Manifest, records: Iterable[_K]) -> tuple[list[_K], int]:
    own: list[_K] = []
    foreign = 0
    for record in records:
        if record.dataset == manifest.dataset:
            own.append(record)
        else:
            foreign += 1
    return own, foreign


_Asked = TypeVar("_Asked", SearchRecord, AnswerRecord)


def _by_question(records: Iterable[_Asked]) -> dict[str, dict[str, _Asked]]:
    found: dict[str, dict[str, _Asked]] = {}
    for record in records:
        found.setdefault(record.configuration, {})[record.question] = record
    return found


def _by_run(
    records: Iterable[JudgementRecord],
) -> dict[str, dict[str, Sequence[JudgementRecord]]]:
    found: dict[str, dict[str, dict[int, JudgementRecord]]] = {}
    for record in records:
        runs = found.setdefault(record.configuration, {}).setdefault(record.question, {})
        runs[record.run] = record
    return {
        configuration: {question: list(runs.values()) for question, runs in questions.items()}
        for configuration, questions in found.items()
    }
