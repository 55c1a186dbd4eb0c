"""The directory of one evaluation: its stages' files and what they were made of."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from evaluation.errors import RecordsDamaged
from evaluation.ledger import Ledger, write_whole
from evaluation.records import (
    AnswerRecord,
    IngestRecord,
    JudgementRecord,
    Manifest,
    QuestionRecord,
    SearchRecord,
    SelfTestRecord,
)

MANIFEST = "manifest.json"
SERVER = "server"
"""Where an evaluation's own server keeps its memory."""

_OfStages = (
    Ledger[IngestRecord] | Ledger[SearchRecord] | Ledger[AnswerRecord] | Ledger[JudgementRecord]
)


class Workspace:
    """Every stage's ledger, under its own file."""

    def __init__(self, directory: Path, *, told: Callable[[str], None]) -> None:
        """Open a directory, made if it is not there; raises `RecordsDamaged`."""
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.questions = Ledger(
            directory / "questions.jsonl",
            QuestionRecord,
            key=lambda one: (one.dataset, one.question),
            told=told,
        )
        self.ingests = Ledger(
            directory / "ingest.jsonl",
            IngestRecord,
            key=lambda one: (one.dataset, one.configuration, one.conversation),
            told=told,
        )
        self.searches = Ledger(
            directory / "search.jsonl",
            SearchRecord,
            key=lambda one: (one.dataset, one.configuration, one.question),
            told=told,
        )
        self.answers = Ledger(
            directory / "answers.jsonl",
            AnswerRecord,
            key=lambda one: (one.dataset, one.configuration, one.question),
            told=told,
        )
        self.judgements = Ledger(
            directory / "judgements.jsonl",
            JudgementRecord,
            key=lambda one: (one.dataset, one.configuration, one.question, one.run),
            told=told,
        )

        self.self_tests = Ledger(
            directory / "self_test.jsonl",
            SelfTestRecord,
            key=lambda one: (
                one.judge,
                one.model,
                one.prompt_digest,
                one.temperature,
                one.case,
            ),
            told=told,
        )

    def from_stage(self, stage: str) -> "Sequence[_OfStages]":
        """Return the ledgers of a stage and of those after it."""
        ledgers: Mapping[str, _OfStages] = {
            "ingest": self.ingests,
            "search": self.searches,
            "answer": self.answers,
            "judge": self.judgements,
        }
        names = list(ledgers)
        return [ledgers[name] for name in names[names.index(stage) :]]

    def keep(self, manifest: Manifest) -> None:
        """Write down what the records are made of."""
        content = manifest.model_dump_json(indent=2) + "\n"
        write_whole(self.directory / MANIFEST, content.encode())

    def manifest(self) -> Manifest | None:
        """Return what the records are made of, if anything was done here yet."""
        return kept_manifest(self.directory)


def kept_manifest(directory: Path) -> Manifest | None:
    """Return what a directory's records are made of; raises `RecordsDamaged`."""
    path = directory / MANIFEST
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise RecordsDamaged(
            f"{path} is no manifest of an evaluation: choose another directory, or remove it"
        ) from error
