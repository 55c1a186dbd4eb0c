from datetime import UTC, datetime

import pytest

from evaluation.readers.times import times_in

WEDNESDAY = datetime(2023, 3, 15, 13, 56, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("I went to the dentist yesterday.", "14 March 2023"),
        ("We meet tomorrow!", "16 March 2023"),
        ("I did it this morning.", "15 March 2023"),
        ("It broke the day before yesterday", "13 March 2023"),
        ("We saw it last night", "14 March 2023"),
        ("three days ago it rained", "12 March 2023"),
        ("I moved two weeks ago", "two weeks before 15 March 2023"),
        ("I moved a week ago", "a week before 15 March 2023"),
        ("we met four months ago", "November 2022"),
        ("That was 5 years ago", "2018"),
        ("I was there last week", "The week before 15 March 2023"),
        ("It is next weekend", "The weekend after 15 March 2023"),
        ("We start next month", "April 2023"),
        ("It was last year", "2022"),
        ("She came last Tues with cake", "The Tuesday before 15 March 2023"),
        ("It opens next Thursday", "The Thursday after 15 March 2023"),
        ("He called on Sunday", "The Sunday before 15 March 2023"),
        ("Back in June we met", "June 2023"),
        ("We married last August", "August 2022"),
        ("It opens next January", "January 2024"),
        ("on 8 May, 2021 we met", "8 May 2021"),
        ("born May 8th, 1990", "8 May 1990"),
        ("due on April 2nd", "2 April 2023"),
        ("in Sept 2019 it began", "September 2019"),
        ("I have lived here since 2016", "2016"),
        ("A few days ago I fell", "A few days before 15 March 2023"),
        ("the other day I fell", "A few days before 15 March 2023"),
        ("I got it a few years ago", "A few years ago"),
    ],
)
def test_a_time_is_put_to_the_day_on_which_it_was_said(text: str, time: str) -> None:
    assert [found for _, found in times_in(text, WEDNESDAY)] == [time]


@pytest.mark.parametrize("text", ["I may come.", "The sun was out.", "We sat there.", "I march on"])
def test_words_that_only_look_like_times_are_none(text: str) -> None:
    assert list(times_in(text, WEDNESDAY)) == []


def test_without_a_day_only_what_needs_none_is_told() -> None:
    assert [found for _, found in times_in("yesterday, 8 May 2021", None)] == ["8 May 2021"]
