"""How exactly a time is known, and how it is put into words."""

from datetime import datetime

import pytest

from memory_server.domain.dates import resolve
from memory_server.domain.memory import EventTime
from memory_server.domain.precision import Precision, span_in_words, took_place

SAID_AT = datetime.fromisoformat("2026-03-12T22:30:00-05:00")
"""A Thursday."""


@pytest.mark.parametrize(
    ("words", "precision", "told"),
    [
        ("yesterday", Precision.DAY, "on 11 March 2026"),
        ("last week", Precision.WEEK, "in the week of 2 March 2026"),
        ("last weekend", Precision.WEEKEND, "on the weekend of 7 March 2026"),
        ("last month", Precision.MONTH, "in February 2026"),
        ("in 2022", Precision.YEAR, "in 2022"),
        ("in the summer of 2021", Precision.YEAR, "in 2021"),
        ("in the 1990s", Precision.DECADE, "in the 1990s"),
    ],
)
def test_time_is_as_exact_as_its_words(words: str, precision: Precision, told: str) -> None:
    event = resolve(words, SAID_AT)

    assert event is not None
    assert event.precision is precision
    assert took_place(event.start, event.end) == told


@pytest.mark.parametrize(
    ("start", "end", "precision", "told"),
    [
        ("2026-03-12T22:30", "2026-03-12T22:41", "moment", "on 12 March 2026"),
        ("2026-03-12T22:30", "2026-03-12T22:30", "moment", "on 12 March 2026"),
        ("2026-03-12T22:30", "2026-03-14T01:00", "days", "from 12 March 2026 to 14 March 2026"),
        ("2026-03-12T00:00", "2026-03-16T00:00", "days", "from 12 March 2026 to 15 March 2026"),
        ("2026-03-11T00:00", "2026-03-13T00:00", "days", "from 11 March 2026 to 12 March 2026"),
        ("2026-01-01T00:00", "2026-03-01T00:00", "days", "from 1 January 2026 to 28 February 2026"),
    ],
)  # fmt: skip
def test_any_stretch_has_a_precision_and_words(
    start: str, end: str, precision: str, told: str
) -> None:
    event = EventTime(
        start=datetime.fromisoformat(start), end=datetime.fromisoformat(end), words=""
    )

    assert event.precision == precision
    assert took_place(event.start, event.end) == told
    assert span_in_words(event.start, event.end) in told
