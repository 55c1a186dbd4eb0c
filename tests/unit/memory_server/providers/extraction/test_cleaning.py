"""What this server recalled is not learned again as if somebody had said it."""

from datetime import UTC, datetime

import pytest

from memory_server.domain.chunk import Chunk, Source
from memory_server.domain.formats import FormatStyle, format_context
from memory_server.providers.extraction.rules.cleaning import with_apostrophes, without_injected

SAID = "I moved to Oslo."
NOW = datetime(2026, 1, 5, tzinfo=UTC)


def a_context(style: FormatStyle) -> str:
    texts = {Source.SEMANTIC: "I always fly out of Boston.", Source.EPISODIC: "I sold my car."}
    chunks = [
        Chunk(id=text, content=text, source=source, timestamp=NOW, score=0.5)
        for source, text in texts.items()
    ]
    formatted = format_context(chunks, style)
    return formatted if isinstance(formatted, str) else str(formatted[0]["content"])


@pytest.mark.parametrize("style", list(FormatStyle))
def test_a_context_of_any_style_is_taken_out_and_what_was_said_stays(style: FormatStyle) -> None:
    assert without_injected(f"{a_context(style)}\n\n{SAID}").strip() == SAID
    assert without_injected(f"{SAID}\n\n{a_context(style)}").strip() == SAID


def test_a_section_that_somebody_else_wrote_ends_at_the_next_of_its_kind() -> None:
    text = f"# What is remembered\n- I like tea\n## Old\n- I like jam\n# Today\n{SAID}"

    assert without_injected(text).strip() == f"# Today\n{SAID}"


@pytest.mark.parametrize(
    ("hasty", "careful"),
    [
        ("i dont eat meat", "i don't eat meat"),
        ("im vegan and ive two cats", "I'm vegan and I've two cats"),
        ("I cant swim, it doesnt matter", "I can't swim, it doesn't matter"),
        ("the infant went in front", "the infant went in front"),
        ("donuts, paint, Ivette", "donuts, paint, Ivette"),
    ],
)
def test_apostrophes_that_hasty_writers_leave_out_are_put_in(hasty: str, careful: str) -> None:
    assert with_apostrophes(hasty) == careful
