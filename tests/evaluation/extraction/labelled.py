"""Cases and what came of them, valid unless a test says otherwise."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.extraction.labels import Case
from evaluation.extraction.records import CaseRecord, StoredMemory

MINI = Path(__file__).parent / "mini.yaml"
DATE = "2026-03-02T09:00:00+01:00"


def a_case(*said: str, language: str = "en", **labels: Any) -> Case:
    """Return a case of one session in which the user says this."""
    document: Mapping[str, Any] = {
        "id": f"{language}-case",
        "language": language,
        "about": ["plain"],
        "sessions": [{"date": DATE, "turns": [{"user": text} for text in said or ("Hi.",)]}],
        **labels,
    }
    return Case.model_validate(document)


def expected(*words: str | list[str], **more: Any) -> dict[str, Any]:
    """Return a label of a fact."""
    return {"type": "semantic", "says": list(words), **more}


def stored(text: str, **changes: Any) -> StoredMemory:
    """Return a live fact, as it was added."""
    document = {"id": text, "type": "semantic", "text": text, "is_live": True, "actions": ["ADD"]}
    return StoredMemory.model_validate({**document, **changes})


def a_record(*memories: StoredMemory, **changes: Any) -> CaseRecord:
    """Return what came of a case."""
    document = {"configuration": "c", "case": "en-case", "digest": "d", "memories": memories}
    return CaseRecord.model_validate({**document, **changes})
