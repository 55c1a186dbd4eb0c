"""Records of a small evaluation, valid by default: a test says only what matters to it."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from evaluation.records import (
    AnswerRecord,
    FoundItem,
    IngestRecord,
    JudgementRecord,
    Manifest,
    QuestionRecord,
    Record,
    SearchRecord,
    SelfTestRecord,
)

DATA = "d" * 64


def a_manifest(**changes: Any) -> Manifest:
    given: dict[str, Any] = {
        "version": "0.1.0",
        "server": {},
        "suite": {},
        "dataset": DATA,
        "dataset_name": "own",
        "is_synthetic": False,
    }
    return Manifest(**given | changes)


def a_question(key: str, **changes: Any) -> QuestionRecord:
    given: dict[str, Any] = {
        "dataset": DATA,
        "question": key,
        "conversation": "c1",
        "text": "Where does Ann live?",
        "category": "4",
        "answers": ("Lisbon",),
        "evidence": ("t1",),
        "sessions": ("s1",),
    }
    return QuestionRecord(**given | changes)


def an_item(*turns: str, **changes: Any) -> FoundItem:
    given: dict[str, Any] = {
        "id": "-".join(turns),
        "source": "stm",
        "content": " ".join(turns),
        "score": 0.5,
        "turns": turns,
        "sessions": ("s1",),
        "tokens": 10,
    }
    return FoundItem(**given | changes)


def a_search(question: str, found: Sequence[FoundItem], **changes: Any) -> SearchRecord:
    given: dict[str, Any] = {
        "dataset": DATA,
        "configuration": "search1",
        "question": question,
        "pipeline": "turns",
        "mode": "hybrid",
        "depth": 20,
        "found": found,
        "timing": {"total": 12.0},
    }
    return SearchRecord(**given | changes)


def an_ingest(**changes: Any) -> IngestRecord:
    given: dict[str, Any] = {
        "dataset": DATA,
        "configuration": "ingest1",
        "conversation": "c1",
        "turns": 4,
        "stored": {"turns": 4},
        "exchanges": {"t1": "e1", "t2": "e1", "t3": "e2", "t4": "e2"},
        "seconds": 1.0,
    }
    return IngestRecord(**given | changes)


def an_answer(question: str, answer: str, **changes: Any) -> AnswerRecord:
    given: dict[str, Any] = {
        "dataset": DATA,
        "configuration": "answer1",
        "question": question,
        "search": "search1",
        "k": 10,
        "reader": "extractive",
        "prompt": "",
        "prompt_digest": "",
        "answer": answer,
        "milliseconds": 3.0,
    }
    return AnswerRecord(**given | changes)


def a_judgement(question: str, *, is_right: bool | None, **changes: Any) -> JudgementRecord:
    given: dict[str, Any] = {
        "dataset": DATA,
        "configuration": "judge1",
        "question": question,
        "answer": "answer1",
        "judge": "locomo_generous",
        "model": "tiny",
        "prompt_digest": "p1",
        "temperature": 0.0,
        "run": 0,
        "is_right": is_right,
        "reply": "",
        "milliseconds": 5.0,
    }
    return JudgementRecord(**given | changes)


def a_self_test(kind: str, *, is_right: bool | None, **changes: Any) -> SelfTestRecord:
    given: dict[str, Any] = {
        "judge": "locomo_generous",
        "model": "tiny",
        "prompt_digest": "p1",
        "temperature": 0.0,
        "case": f"own0-{kind}",
        "kind": kind,
        "source": "own",
        "is_right": is_right,
    }
    return SelfTestRecord(**given | changes)


FILES: dict[type[Record], str] = {
    QuestionRecord: "questions.jsonl",
    IngestRecord: "ingest.jsonl",
    SearchRecord: "search.jsonl",
    AnswerRecord: "answers.jsonl",
    JudgementRecord: "judgements.jsonl",
    SelfTestRecord: "self_test.jsonl",
}


def write(directory: Path, *records: Record, manifest: Manifest | None = None) -> Path:
    """Write records into the files of a directory, as the stages do."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "manifest.json").write_text((manifest or a_manifest()).model_dump_json())
    for kind, name in FILES.items():
        lines = [record.model_dump_json() for record in records if isinstance(record, kind)]
        _append(directory / name, lines)
    return directory


def _append(path: Path, lines: Iterable[str]) -> None:
    with path.open("a") as file:
        file.writelines(f"{line}\n" for line in lines)
