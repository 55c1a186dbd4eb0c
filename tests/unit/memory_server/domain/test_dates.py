"""When things were said, and when the things said took place."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from memory_server.domain.dates import resolve

MONDAY = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
"""8 May 2023 was a Monday."""

SPANS = [
    ("I went to the gym today", "2023-05-08", "2023-05-09", "today"),
    ("I met Ana yesterday", "2023-05-07", "2023-05-08", "yesterday"),
    ("I am flying tomorrow morning", "2023-05-09", "2023-05-10", "tomorrow"),
    ("We ate out last night", "2023-05-07", "2023-05-08", "last night"),
    ("She left the day before yesterday", "2023-05-06", "2023-05-07", "the day before yesterday"),
    ("He comes the day after tomorrow", "2023-05-10", "2023-05-11", "the day after tomorrow"),
    ("I ran a race last Saturday", "2023-05-06", "2023-05-07", "last Saturday"),
    ("I ran a race last Fri", "2023-05-05", "2023-05-06", "last Fri"),
    ("I ran a race last Monday", "2023-05-01", "2023-05-02", "last Monday"),
    ("See you next Friday", "2023-05-12", "2023-05-13", "next Friday"),
    ("See you next Monday", "2023-05-15", "2023-05-16", "next Monday"),
    ("The exam is this Thursday", "2023-05-11", "2023-05-12", "this Thursday"),
    ("I was ill last week", "2023-05-01", "2023-05-08", "last week"),
    ("We camped last weekend", "2023-05-06", "2023-05-08", "last weekend"),
    ("We camp this weekend", "2023-05-13", "2023-05-15", "this weekend"),
    ("We camp next weekend", "2023-05-20", "2023-05-22", "next weekend"),
    ("It starts next month", "2023-06-01", "2023-07-01", "next month"),
    ("I graduated last year", "2022-01-01", "2023-01-01", "last year"),
    ("this year is better", "2023-01-01", "2024-01-01", "this year"),
    ("I met her last May", "2022-05-01", "2022-06-01", "last May"),
    ("I met her last March", "2023-03-01", "2023-04-01", "last March"),
    ("It opens next March", "2024-03-01", "2024-04-01", "next March"),
    ("I saw him three days ago", "2023-05-05", "2023-05-06", "three days ago"),
    ("I saw him a week ago", "2023-05-01", "2023-05-08", "a week ago"),
    ("I saw him a couple of weeks ago", "2023-04-24", "2023-05-01", "a couple of weeks ago"),
    ("I quit 5 months ago", "2022-12-01", "2023-01-01", "5 months ago"),
    ("I moved here 4 years ago", "2019-01-01", "2020-01-01", "4 years ago"),
    ("The lease ends in two months", "2023-07-01", "2023-08-01", "in two months"),
    ("I leave in 10 days", "2023-05-18", "2023-05-19", "in 10 days"),
    ("I painted it in 2022", "2022-01-01", "2023-01-01", "in 2022"),
    ("I was born in May 1990", "1990-05-01", "1990-06-01", "in May 1990"),
    ("I visited Rome in May", "2023-05-01", "2023-06-01", "in May"),
    ("I visited Rome in June", "2022-06-01", "2022-07-01", "in June"),
    ("I will visit Rome in June", "2023-06-01", "2023-07-01", "in June"),
    ("I will visit Rome in January", "2024-01-01", "2024-02-01", "in January"),
    ("The meeting was on 2023-04-30", "2023-04-30", "2023-05-01", "on 2023-04-30"),
    ("The party is on 3 June 2023", "2023-06-03", "2023-06-04", "on 3 June 2023"),
    ("The party is on June 3rd, 2023", "2023-06-03", "2023-06-04", "on June 3rd, 2023"),
    ("I was there on the 3rd of June", "2022-06-03", "2022-06-04", "on the 3rd of June"),
    ("I will be there on June 3", "2023-06-03", "2023-06-04", "on June 3"),
    ("I was hired on Friday", "2023-05-05", "2023-05-06", "on Friday"),
    ("I will call on Friday", "2023-05-12", "2023-05-13", "on Friday"),
    ("the week before 9 June 2023", "2023-06-02", "2023-06-09", "the week before 9 June 2023"),
    ("the Sunday before 25 May 2023", "2023-05-21", "2023-05-22", "the Sunday before 25 May 2023"),
    ("the weekend before 5 July 2023", "2023-07-01", "2023-07-03", None),
    ("the weekend before 2 July 2023", "2023-06-24", "2023-06-26", None),
    ("the day after 31 December 2022", "2023-01-01", "2023-01-02", None),
    ("Hoy fui al médico", "2023-05-08", "2023-05-09", "Hoy"),
    ("Ayer compré un coche", "2023-05-07", "2023-05-08", "Ayer"),
    ("anteayer llovió", "2023-05-06", "2023-05-07", "anteayer"),
    ("Mañana viajo a Lima", "2023-05-09", "2023-05-10", "Mañana"),
    ("Pasado mañana viajo", "2023-05-10", "2023-05-11", "Pasado mañana"),
    ("Me mudé la semana pasada", "2023-05-01", "2023-05-08", "la semana pasada"),
    ("Empiezo la semana que viene", "2023-05-15", "2023-05-22", "la semana que viene"),
    ("Empiezo el próximo mes", "2023-06-01", "2023-07-01", "el próximo mes"),
    ("Nos vimos el lunes pasado", "2023-05-01", "2023-05-02", "el lunes pasado"),
    ("Acampamos el fin de semana pasado", "2023-05-06", "2023-05-08", None),
    ("El año pasado estuve en Roma", "2022-01-01", "2023-01-01", "El año pasado"),
    ("Lo dejé hace dos semanas", "2023-04-24", "2023-05-01", "hace dos semanas"),
    ("Salgo dentro de tres días", "2023-05-11", "2023-05-12", "dentro de tres días"),
    ("Nací en 1990", "1990-01-01", "1991-01-01", "en 1990"),
    ("Fui a Roma en abril", "2023-04-01", "2023-05-01", "en abril"),
    ("El examen es el 3 de junio de 2023", "2023-06-03", "2023-06-04", "el 3 de junio de 2023"),
    ("la semana antes del 9 de junio de 2023", "2023-06-02", "2023-06-09", None),
]


@pytest.mark.parametrize(("sentence", "start", "end", "words"), SPANS)
def test_time_expression_becomes_a_span_as_wide_as_its_words(
    sentence: str, start: str, end: str, words: str | None
) -> None:
    found = resolve(sentence, MONDAY)

    assert found is not None
    assert (found.start.isoformat()[:10], found.end.isoformat()[:10]) == (start, end)
    assert words is None or found.words == words


@pytest.mark.parametrize(
    "sentence",
    [
        "I live in Boston",
        "I may go in 5",
        "May is my sister",
        "I run every morning",
        "Por la mañana corro",
        "It rains in May",
        "We meet on Friday",
        "I saw it a few weeks ago",
        "I was there on 31 February 2023",
        "the last straw",
        "page 2022",
        "",
    ],
)
def test_what_words_do_not_tell_is_not_invented(sentence: str) -> None:
    assert resolve(sentence, MONDAY) is None


def test_moment_before_the_calendar_begins_is_not_resolved() -> None:
    assert resolve("It was built 900 years ago", MONDAY.replace(year=800)) is None


def test_nothing_is_resolved_when_nobody_knows_when_it_was_said() -> None:
    assert resolve("I met her yesterday, on 8 May 2023", None) is None


def test_today_is_the_day_of_the_speaker_not_the_one_in_utc() -> None:
    late = datetime(2023, 5, 8, 22, 30, tzinfo=timezone(timedelta(hours=-5)))

    found = resolve("I started today", late)

    assert found is not None
    assert found.start.isoformat() == "2023-05-08T00:00:00-05:00"
    assert found.end.isoformat() == "2023-05-09T00:00:00-05:00"


def test_first_expression_that_resolves_counts() -> None:
    found = resolve("on 31 February 2023, no, yesterday I saw her", MONDAY)

    assert found is not None
    assert found.words == "yesterday"
