"""What every store keeps of a memory, and what former programs kept."""

from datetime import UTC, datetime
from typing import Any

from memory_server.domain.memory import Evidence
from memory_server.storage.memory_values import evidence_of, evidence_values

MOMENT = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)


def evidence(**changes: Any) -> Evidence:
    values: dict[str, Any] = {
        "snapshot_id": "s1",
        "session_id": "monday",
        "turn_ids": ("t1",),
        "extractor": "rules/1",
        "learned_at": MOMENT,
    }
    return Evidence(**values | changes)


def test_evidence_is_read_back_as_it_was() -> None:
    whole = evidence(action="ADD", reason="new", speakers=("Ana", "user"), event_time=MOMENT)

    assert evidence_of(evidence_values(whole)) == whole


def test_evidence_from_before_its_action_and_speakers_were_noted_is_read() -> None:
    kept = dict(evidence_values(evidence()))
    for later in ("action", "reason", "speakers"):
        del kept[later]

    assert evidence_of(kept) == evidence()
