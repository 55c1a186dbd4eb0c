"""Parts of memories as values of JSON: what every store keeps of them."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any

from memory_server.domain.exchange import Said, Viewpoint
from memory_server.domain.memory import BODY_TYPES, Block, Body, Evidence, MemoryType
from memory_server.domain.moments import moment_of_text, moment_text, within_reach
from memory_server.domain.utterance import Dialogue, Line


def body_values(body: Body) -> Mapping[str, Any]:
    """Return the fields of a body."""
    values = {one.name: getattr(body, one.name) for one in fields(body)}
    if isinstance(body, Block):
        values["viewpoint"] = body.viewpoint.value
        values["messages"] = [said.document for said in body.messages]
    return values


def body_of(kind: MemoryType, values: Mapping[str, Any]) -> Body:
    """Return the body that `body_values` took apart, read back from JSON."""
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
    if kind is MemoryType.BLOCK:
        given |= {
            "viewpoint": Viewpoint(given["viewpoint"]),
            "messages": tuple(map(Said.of, given["messages"])),
        }
    return BODY_TYPES[kind](**given)


def dialogue(block: Mapping[str, Any], said_at: datetime) -> Dialogue:
    """Return what was said in an exchange, from the fields of one of its blocks."""
    return Dialogue(
        session=block["conversation_id"],
        viewpoint=Viewpoint(block["viewpoint"]),
        lines=[Line(one["role"], one["speaker"], one["content"]) for one in block["messages"]],
        said_at=said_at,
    )


def evidence_values(evidence: Evidence) -> Mapping[str, Any]:
    """Return the fields of evidence."""
    return {
        "snapshot_id": evidence.snapshot_id,
        "session_id": evidence.session_id,
        "turn_ids": evidence.turn_ids,
        "extractor": evidence.extractor,
        "learned_at": moment_text(evidence.learned_at),
        "event_time": moment_text(evidence.event_time),
        "action": evidence.action,
        "reason": evidence.reason,
        "speakers": evidence.speakers,
    }


def evidence_of(values: Mapping[str, Any]) -> Evidence:
    """Return the evidence that `evidence_values` took apart."""
    return Evidence(
        snapshot_id=values["snapshot_id"],
        session_id=values["session_id"],
        turn_ids=tuple(values["turn_ids"]),
        extractor=values["extractor"],
        learned_at=within_reach(datetime.fromisoformat(values["learned_at"])),
        event_time=moment_of_text(values["event_time"]),
        action=values.get("action", ""),
        reason=values.get("reason", ""),
        speakers=tuple(values.get("speakers", ())),
    )
