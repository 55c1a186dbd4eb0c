"""Documents as a server answers them."""

from typing import Any

LONG = "Ana lives in Lisbon, in a flat that looks over the river and the long red bridge. " * 3


def a_memory(**changes: Any) -> dict[str, Any]:
    return {
        "id": "m1",
        "type": "semantic",
        "label": "home_city",
        "content": LONG,
        "user_id": "ana",
        "visibility": "private",
        "version": 2,
        "is_latest": True,
        "valid_from": "2024-05-08T10:00:00Z",
        "valid_to": None,
        "event_time": {
            "start": "2024-05-01T00:00:00Z",
            "end": "2024-06-01T00:00:00Z",
            "precision": "month",
            "in_words": "in May 2024",
            "words": "in May",
        },
        "reinforcement_count": 3,
        "evidence": [
            {
                "snapshot_id": "p1",
                "session_id": "s1",
                "turns": [
                    {
                        "id": "t3",
                        "turn_seq": 3,
                        "role": "user",
                        "speaker": "Ana",
                        "said_at": "2024-05-08T10:00:30Z",
                        "content": "I moved",
                    }
                ],
                "missing_turns": 0,
                "speakers": ["Ana"],
                "said_at": "2024-05-08T10:00:30Z",
                "extractor": "rules/1",
                "learned_at": "2024-05-08T10:01:00Z",
                "action": "UPDATE",
                "reason": "a new value",
            }
        ],
        "history": [
            {
                "version": 1,
                "content": "Ana lives in Porto.",
                "valid_from": "2023-01-02T00:00:00Z",
                "valid_to": "2024-05-08T10:00:00Z",
                "evidence": [],
            }
        ],
    } | changes


def a_job(**changes: Any) -> dict[str, Any]:
    return {
        "id": "j1",
        "kind": "extract",
        "type": "semantic",
        "state": "done",
        "attempts": 1,
        "user_id": "ana",
        "session_id": "s1",
        "due_at": "2024-05-08T10:00:00Z",
        "error_code": None,
        "error": None,
        "result": {"decisions": []},
    } | changes


def a_proposal(**changes: Any) -> dict[str, Any]:
    return {
        "id": "p1",
        "state": "pending",
        "revision": 1,
        "type": "semantic",
        "content": "Ana lives in Lisbon.",
        "words": {"text": "Ana lives in Lisbon."},
        "name": "home_city",
        "retracts": False,
        "user_id": "ana",
        "session_id": "s1",
        "extractor": "rules/1",
        "said_at": "2026-03-01T10:00:00+00:00",
        "created_at": "2026-05-04T12:00:00+00:00",
        "edited": None,
        "decision": None,
        "turns": [],
    } | changes
