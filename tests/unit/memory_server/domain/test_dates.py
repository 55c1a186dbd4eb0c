"""When things were said, and when the things said took place."""

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.domain.dates import resolve, resolve_each

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
    ("I saw them the week before last", "2023-04-24", "2023-05-01", "the week before last"),
    ("We camp the weekend after next", "2023-05-27", "2023-05-29", "the weekend after next"),
    ("We met two Fridays ago", "2023-04-28", "2023-04-29", "two Fridays ago"),
    ("We ate out this past Friday", "2023-05-05", "2023-05-06", "this past Friday"),
    ("A couple of months ago I quit", "2023-03-01", "2023-04-01", "A couple of months ago"),
    ("I moved here a fortnight ago", "2023-04-24", "2023-05-01", "a fortnight ago"),
    ("Done in two weeks\u2019 time", "2023-05-22", "2023-05-29", "in two weeks\u2019 time"),
    ("I want it by the end of the month", "2023-05-31", "2023-06-01", "by the end of the month"),
    ("We go at the end of next month", "2023-06-01", "2023-07-01", "at the end of next month"),
    ("I need it by the end of the week", "2023-05-08", "2023-05-15", "by the end of the week"),
    ("Next year I retire", "2024-01-01", "2025-01-01", "Next year"),
    ("In the summer of 2021 we met", "2021-01-01", "2022-01-01", "In the summer of 2021"),
    ("We met in the 1990s", "1990-01-01", "2000-01-01", "in the 1990s"),
    ("We met in May of last year", "2022-05-01", "2022-06-01", "in May of last year"),
    ("We met on June 3rd last year", "2022-06-03", "2022-06-04", "on June 3rd last year"),
    ("I met her on the 5th", "2023-05-05", "2023-05-06", "on the 5th"),
    ("I will be there by Friday", "2023-05-12", "2023-05-13", "by Friday"),
    ("Over the weekend we hiked", "2023-05-06", "2023-05-08", "Over the weekend"),
    ("We will hike at the weekend", "2023-05-13", "2023-05-15", "at the weekend"),
    ("two days before 3 May 2022", "2022-05-01", "2022-05-02", "two days before 3 May 2022"),
    ("We ate in Rome tonight", "2023-05-08", "2023-05-09", "tonight"),
    ("antier llovió", "2023-05-06", "2023-05-07", "antier"),
    ("Esta mañana fui a correr", "2023-05-08", "2023-05-09", "Esta mañana"),
    ("Me voy el mes que viene", "2023-06-01", "2023-07-01", "el mes que viene"),
    ("El viernes pasado cené fuera", "2023-05-05", "2023-05-06", "El viernes pasado"),
    ("el pasado viernes cené fuera", "2023-05-05", "2023-05-06", "el pasado viernes"),
    ("Nos vimos la semana antepasada", "2023-04-24", "2023-05-01", "la semana antepasada"),
    ("Lo vi hace un par de meses", "2023-03-01", "2023-04-01", "hace un par de meses"),
    ("Nos fuimos hace quince días", "2023-04-23", "2023-04-24", "hace quince días"),
    ("Voy a empezar en dos semanas", "2023-05-22", "2023-05-29", "en dos semanas"),
    ("Lo quiero para fin de mes", "2023-05-31", "2023-06-01", "para fin de mes"),
    ("En verano de 2021 nos conocimos", "2021-01-01", "2022-01-01", "En verano de 2021"),
    ("Nos vimos el 3 de junio del año pasado", "2022-06-03", "2022-06-04", None),
    ("Gestern war ich in Rom", "2023-05-07", "2023-05-08", "Gestern"),
    ("Morgen fliege ich", "2023-05-09", "2023-05-10", "Morgen"),
    ("Ich war letzte Woche krank", "2023-05-01", "2023-05-08", "letzte Woche"),
    ("Ich zog letztes Jahr um", "2022-01-01", "2023-01-01", "letztes Jahr"),
    ("Nächsten Freitag fliege ich", "2023-05-12", "2023-05-13", "Nächsten Freitag"),
    ("Vor zwei Wochen war ich da", "2023-04-24", "2023-05-01", "Vor zwei Wochen"),
    ("In drei Tagen fliege ich", "2023-05-11", "2023-05-12", "In drei Tagen"),
    ("Das Konzert war am 3. März 2022", "2022-03-03", "2022-03-04", "am 3. März 2022"),
    ("Ontem corri", "2023-05-07", "2023-05-08", "Ontem"),
    ("Mudei na semana passada", "2023-05-01", "2023-05-08", "na semana passada"),
    ("Mudei há duas semanas", "2023-04-24", "2023-05-01", "há duas semanas"),
    ("Viajo daqui a três dias", "2023-05-11", "2023-05-12", "daqui a três dias"),
    ("Casei em maio de 2022", "2022-05-01", "2022-06-01", "em maio de 2022"),
    ("昨天我跑步了", "2023-05-07", "2023-05-08", "昨天"),
    ("上周五我去了北京", "2023-05-05", "2023-05-06", "上周五"),
    ("下个月我要搬家", "2023-06-01", "2023-07-01", "下个月"),
    ("两周前我买了车", "2023-04-24", "2023-05-01", "两周前"),
    ("我2022年5月3日结婚", "2022-05-03", "2022-05-04", "2022年5月3日"),
    ("我去年5月结婚", "2022-05-01", "2022-06-01", "去年5月"),
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
        "In my twenties I smoked",
        "The week before, I was in Rome",
        "The next day we left",
        "The following week we left",
        "Al día siguiente nos fuimos",
        "I cried the week before my birthday in May",
        "I cried two days before the wedding in May",
        "I left more than two years ago",
        "Me fui hace más de dos años",
        "I bought it a year and a half ago",
        "Lo compré hace un año y medio",
        "I was there 2.5 years ago",
        "In the last year I read 40 books",
        "the last week of May",
        "I wrote it in three days",
        "Lo escribí en tres días",
        "We met last summer",
        "She lives on the 3rd floor and was ill",
        "Hoy en día todos corren",
        "Guten Morgen",
        "I lived there from 2015 to 2018",
        "Cada dos semanas fui a Roma",
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


@pytest.mark.parametrize(
    ("text", "words", "start", "end"),
    [
        ("We married on 3 May 2022. The week before, I was in Rome.",
         "The week before", "2022-04-26", "2022-05-03"),
        ("We married on 3 May 2022 and three days later we left.",
         "three days later", "2022-05-06", "2022-05-07"),
        ("We married on 3 May 2022. The next day we left, and the following week we were back.",
         "the following week", "2022-05-05", "2022-05-12"),
        ("I was in Rome last week and in Oslo the week before.",
         "the week before", "2023-04-24", "2023-05-01"),
        ("Nos casamos el 3 de mayo de 2022 y al día siguiente nos fuimos.",
         "al día siguiente", "2022-05-04", "2022-05-05"),
    ],
)  # fmt: skip
def test_time_that_starts_from_another_one_follows_it(
    text: str, words: str, start: str, end: str
) -> None:
    before = text[: text.index(words)]

    found = resolve(words, MONDAY, told_in=text, after=before)

    assert found is not None
    assert (found.start.isoformat()[:10], found.end.isoformat()[:10]) == (start, end)
    assert found in list(resolve_each(text, MONDAY))


def test_every_time_of_a_text_is_told_in_its_order() -> None:
    text = "I was in Rome last week, met Ana yesterday and will fly on 3 June 2023."

    assert [event.words for event in resolve_each(text, MONDAY)] == [
        "last week", "yesterday", "on 3 June 2023",
    ]  # fmt: skip
    assert list(resolve_each(text, None)) == []


def test_time_zone_of_the_server_plays_no_part(monkeypatch: pytest.MonkeyPatch) -> None:
    late = datetime(2023, 5, 8, 22, 30, tzinfo=timezone(timedelta(hours=-5)))
    here = resolve("I started today, and last week I quit", late)

    monkeypatch.setenv("TZ", "Pacific/Midway")
    time.tzset()
    try:
        there = resolve("I started today, and last week I quit", late)
    finally:
        monkeypatch.undo()
        time.tzset()

    assert there == here
    assert there is not None
    assert there.start.isoformat() == "2023-05-08T00:00:00-05:00"


def test_first_expression_that_resolves_counts() -> None:
    found = resolve("on 31 February 2023, no, yesterday I saw her", MONDAY)

    assert found is not None
    assert found.words == "yesterday"


WORDS = st.sampled_from(
    "on in the of last next the end by May 3 3rd 31 99 2023 0001 9999 3/4 12 de mayo el lunes two "
    "weeks days ago week before after that later , . ( 5月 2023年 13月 0日 上周 八 一百 fin de mes "
    "apr\u0131l fr\u0131day month\u017f \u0663".split()
)  # fmt: skip


@given(
    text=st.lists(WORDS | st.text(max_size=5), max_size=20).map(" ".join),
    day=st.sampled_from([MONDAY, MONDAY.replace(year=1), MONDAY.replace(year=9999)]),
)
def test_any_text_is_read_without_a_fault(text: str, day: datetime) -> None:
    for event in resolve_each(text, day):
        assert event.start < event.end
        assert resolve(text, day, after=text) is not None


@pytest.mark.parametrize(
    ("text", "day", "words"),
    [
        ("My test will be on Thursday 16 July", "2026-07-16", "on Thursday 16 July"),
        ("My test will be on Thursday, July 16th.", "2026-07-16", "on Thursday, July 16th"),
        ("We met on Friday the 3rd of July", "2026-07-03", "on Friday the 3rd of July"),
        ("El examen será el jueves 16 de julio.", "2026-07-16", "el jueves 16 de julio"),
        ("Voy a ir el jueves 16 de julio.", "2026-07-16", "el jueves 16 de julio"),
        ("I will go on Thursday.", "2026-07-09", "on Thursday"),
    ],
)
def test_a_weekday_before_the_day_of_a_month_is_part_of_the_date(
    text: str, day: str, words: str
) -> None:
    found = resolve(text, datetime(2026, 7, 6, 16, 30, tzinfo=UTC))

    assert found is not None
    assert (found.start.date().isoformat(), found.words) == (day, words)


@pytest.mark.parametrize("text", ["on 5 apr\u0131l 2023", "last fr\u0131day"])
def test_letters_that_only_look_like_a_name_name_nothing(text: str) -> None:
    assert resolve(text, MONDAY) is None
