"""Tiny data of our own in each schema: a test changes what matters to it."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def written(path: Path, *objects: Any) -> Path:
    """Write the objects as one array."""
    path.write_text(json.dumps(objects), encoding="utf-8")
    return path


def written_lines(path: Path, objects: Iterable[Any]) -> Path:
    """Write the objects one a line."""
    path.write_text("".join(json.dumps(one) + "\n" for one in objects), encoding="utf-8")
    return path


def a_locomo_turn(dia_id: str, text: str = "Hello", speaker: str = "Ana", **more: Any) -> Any:
    """Return a turn of LoCoMo."""
    return {"speaker": speaker, "dia_id": dia_id, "text": text} | more


def a_sample(sample_id: str = "conv-26", qa: Any = (), **conversation: Any) -> Any:
    """Return a conversation of LoCoMo: two sessions of two turns, and a date without a session."""
    return {
        "sample_id": sample_id,
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                a_locomo_turn("D1:1", "I keep bees now"),
                a_locomo_turn("D1:2", "How many?", "Ben"),
            ],
            "session_2_date_time": "12:05 am on 9 May, 2023",
            "session_2": [
                a_locomo_turn(
                    "D2:1", "Two hives", blip_caption="two boxes", query="langstroth hive price"
                ),
                a_locomo_turn("D2:2", "Nice", "Ben"),
            ],
            "session_3_date_time": "2:00 pm on 10 May, 2023",
        }
        | conversation,
        "qa": list(qa)
        or [
            {
                "question": "What does Ana keep?",
                "answer": "bees",
                "evidence": ["D1:1"],
                "category": 4,
            }
        ],
        "observation": {"session_1_observation": "Ana keeps bees"},
        "session_summary": {"session_1_summary": "They talk about bees"},
        "event_summary": {"events_session_1": {"Ana": ["bees"]}},
    }


def a_message(role: str, content: str, has_answer: bool | None = None) -> Any:
    """Return a message of LongMemEval; without has_answer it is of a session that fills."""
    marked = {} if has_answer is None else {"has_answer": has_answer}
    return {"role": role, "content": content} | marked


def an_item(question_id: str = "q1", **changes: Any) -> Any:
    """Return an item of LongMemEval: sessions in no order, two of them evidence, one of filling."""
    return {
        "question_id": question_id,
        "question_type": "multi-session",
        "question": "How many hives do I have?",
        "answer": 3,
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": [
            "2023/05/25 (Thu) 20:21",
            "2023/05/20 (Sat) 10:20",
            "2023/05/22 (Mon) 08:00",
        ],
        "haystack_session_ids": ["answer_aa_2", "answer_aa_1", "ultrachat_5"],
        "haystack_sessions": [
            [
                a_message("user", "A third hive arrived", has_answer=True),
                a_message("assistant", "Where will it stand?", has_answer=False),
            ],
            [
                a_message("user", "Hello", has_answer=False),
                a_message("assistant", "You said two hives", has_answer=True),
            ],
            [a_message("user", "Tell me of tea"), a_message("assistant", "Gladly")],
        ],
        "answer_session_ids": ["answer_aa_1", "answer_aa_2"],
    } | changes


def an_own_conversation(name: str = "ana", **changes: Any) -> Any:
    """Return a line with a conversation of one's own."""
    return {
        "conversation": name,
        "sessions": [
            {
                "id": "monday",
                "at": "2026-01-05T09:00:00Z",
                "turns": [
                    {"id": "t1", "role": "user", "text": "I moved to Lisbon", "speaker": "Ana"},
                    {"role": "assistant", "text": "How do you like it?"},
                ],
            },
            {"turns": [{"role": "user", "text": "I moved again, to Porto"}]},
        ],
    } | changes


def an_own_question(**changes: Any) -> Any:
    """Return a line with a question of one's own."""
    return {
        "conversation": "ana",
        "question": "Where does Ana live?",
        "answers": ["Porto"],
        "evidence": ["2:1"],
    } | changes
