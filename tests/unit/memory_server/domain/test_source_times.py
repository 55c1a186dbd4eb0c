"""A turn's own time, as its source wrote it."""

from datetime import UTC, datetime
from typing import Any

import pytest

from memory_server.domain.source_times import source_time, without_header

SOURCES: list[tuple[dict[str, Any], str, str | None]] = [
    ({"timestamp": "2023-05-08T13:56:00Z"}, "", "2023-05-08T13:56:00+00:00"),
    ({"timestamp": "2023-05-08T22:30:00-05:00"}, "", "2023-05-08T22:30:00-05:00"),
    ({"timestamp": "2023-05-08 13:56"}, "", "2023-05-08T13:56:00+00:00"),
    ({"date": "2023-05-08"}, "", "2023-05-08T00:00:00+00:00"),
    ({"date": "1:56 pm on 8 May, 2023"}, "", "2023-05-08T13:56:00+00:00"),
    ({"date": "12:09 am on 13 September, 2023"}, "", "2023-09-13T00:09:00+00:00"),
    ({"date": "8 May 2023"}, "", "2023-05-08T00:00:00+00:00"),
    ({"date": "Monday, May 8th, 2023 at 1 pm"}, "", "2023-05-08T13:00:00+00:00"),
    ({"date": "2023/05/20 (Sat) 02:21"}, "", "2023-05-20T02:21:00+00:00"),
    ({"date": "Mon, 8 May 2023 13:56:00 +0200"}, "", "2023-05-08T13:56:00+02:00"),
    ({"date": "8 de mayo de 2023"}, "", "2023-05-08T00:00:00+00:00"),
    ({"timestamp": 1683554160}, "", "2023-05-08T13:56:00+00:00"),
    ({"timestamp": 1683554160000}, "", "2023-05-08T13:56:00+00:00"),
    ({"timestamp": "1683554160"}, "", "2023-05-08T13:56:00+00:00"),
    ({"timestamp": "soon", "date": "2023-05-08"}, "", "2023-05-08T00:00:00+00:00"),
    ({}, "[2023-05-08 13:56] hello", "2023-05-08T13:56:00+00:00"),
    ({}, "Date: 8 May 2023\nHello", "2023-05-08T00:00:00+00:00"),
    ({}, "2023-05-08T13:56:00Z I went home", "2023-05-08T13:56:00+00:00"),
    ({}, "8 May 2023\nHello", "2023-05-08T00:00:00+00:00"),
    ({}, "I met her on 8 May 2023 in Rome", None),
    ({}, "[note to self] hello", None),
    ({}, "Hello", None),
    ({"timestamp": True}, "", None),
    ({"timestamp": 1e30}, "", None),
    ({"timestamp": float("nan")}, "", None),
    ({"date": "31 February 2023"}, "", None),
    ({"timestamp": "0001-01-01T00:00:00+14:00"}, "", None),
    ({"timestamp": "0001-12-31T23:59:59Z"}, "", None),
    ({"timestamp": "0002-01-01T00:00:00Z"}, "", "0002-01-01T00:00:00+00:00"),
    ({"timestamp": "9998-12-31T23:59:59Z"}, "", "9998-12-31T23:59:59+00:00"),
    ({"timestamp": "9998-12-31T23:59:59-00:01"}, "", None),
    ({"timestamp": "9999-12-31T23:59:59-12:00"}, "", None),
    ({"timestamp": 253402300799000}, "", None),
    ({"date": "1 January 0001"}, "", None),
    ({"timestamp": datetime.max.replace(tzinfo=UTC)}, "", None),
    ({}, "[9999-12-31 23:59] hello", None),
    ({"date": ["8 May 2023"]}, "", None),
    ({"date": "some time on 8 May 2023"}, "", None),
]


@pytest.mark.parametrize(("metadata", "content", "expected"), SOURCES)
def test_source_tells_when_a_turn_was_said(
    metadata: dict[str, Any], content: str, expected: str | None
) -> None:
    found = source_time(metadata, content)

    assert (found and found.isoformat()) == expected


def test_date_header_is_not_part_of_what_was_said() -> None:
    assert without_header("[2023-05-08 13:56] I am home") == "I am home"
    assert without_header("[2023] I am home") == "[2023] I am home"


def test_letters_that_only_look_like_a_month_name_no_time() -> None:
    assert source_time({"date": "5 apr\u0131l 2023"}, "5 apr\u0131l 2023\nHi") is None
