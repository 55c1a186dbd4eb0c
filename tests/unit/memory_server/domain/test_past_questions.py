from datetime import UTC, datetime

import pytest

from memory_server.domain.past_questions import past_question

NOW = datetime(2026, 12, 1, 6, tzinfo=UTC)


@pytest.mark.parametrize(
    ("message", "words", "last_day", "rest"),
    [
        ("Where did I live in April 2026?", "in April 2026", "2026-04-30", "Where did I live ?"),
        ("where did I live in april 2026", "in april 2026", "2026-04-30", "where did I live"),
        ("Where did I live in April?", "in April", "2026-04-30", "Where did I live ?"),
        ("Who was my boss in 2022?", "in 2022", "2022-12-31", "Who was my boss ?"),
        ("In 2022, who was my boss?", "In 2022", "2022-12-31", ", who was my boss?"),
        ("Where was I working last year?", "last year", "2025-12-31", "Where was I working ?"),
        ("What did I eat yesterday?", "yesterday", "2026-11-30", "What did I eat ?"),
        ("Where did I live two years ago?", "two years ago", "2024-12-31", "Where did I live ?"),
        ("Where did I live before May 2026?", "before May 2026", "2026-04-30", "Where did I live?"),
        ("¿Dónde vivía en abril de 2026?", "en abril de 2026", "2026-04-30", "¿Dónde vivía ?"),
        ("¿Dónde trabajaba en abril?", "en abril", "2026-04-30", "¿Dónde trabajaba ?"),
        ("¿Dónde vivía el año pasado?", "el año pasado", "2025-12-31", "¿Dónde vivía ?"),
        ("dónde viví hace dos años", "hace dos años", "2024-12-31", "dónde viví"),
        ("¿Dónde vivía antes de mayo de 2026?", "antes de mayo de 2026", "2026-04-30", None),
    ],
)
def test_a_question_about_a_time_that_is_over_is_one_of_what_held_then(
    message: str, words: str, last_day: str, rest: str | None
) -> None:
    asked = past_question(message, NOW)

    assert asked is not None
    assert (asked.words, f"{asked.until:%Y-%m-%d}") == (words, last_day)
    if rest is not None:
        assert asked.rest.replace(" ?", "?") == rest.replace(" ?", "?")


@pytest.mark.parametrize(
    "message",
    [
        "Where do I live?",
        "What do I do on Monday?",
        "Where will I live in April 2027?",
        "What did I say today?",
        "Where have I lived since May 2025?",
        "¿Dónde vivo desde mayo de 2025?",
        "I moved to Oslo in April 2026.",
        "Me mudé a Oslo en abril de 2026.",
        "¿Dónde vivo?",
        "",
    ],
)
def test_other_messages_ask_about_no_time_that_is_over(message: str) -> None:
    assert past_question(message, NOW) is None
