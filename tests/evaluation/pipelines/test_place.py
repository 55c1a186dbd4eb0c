from dataclasses import replace

from evaluation.pipelines.place import Place
from tests.evaluation.talk import MAY, SAID, a_conversation

TALK = a_conversation()


def test_names_say_nothing_and_lead_back() -> None:
    place = Place.of(TALK, ingestion="i")

    [first, second] = place.sessions
    assert {place.session(first), place.session(second)} == {"first", "second"}
    assert "first" not in first
    assert place.turn(first, 1) == "first:0"
    assert place.turn(second, 4) == "second:6"
    assert place.turn(second, 5) is None
    assert place.turn("another", 1) is None
    assert place.turn(first, 0) is None


def test_place_depends_on_what_was_said_and_how_it_is_stored_alone() -> None:
    same, place = Place.of(a_conversation(), ingestion="i"), Place.of(TALK, ingestion="i")
    another = replace(TALK, turns=[replace(TALK.turns[0], text="Else"), *TALK.turns[1:]])

    assert same.user_id == place.user_id
    assert Place.of(TALK, ingestion="j").user_id != place.user_id
    assert Place.of(another, ingestion="i").user_id != place.user_id


def test_what_has_no_text_is_not_counted() -> None:
    silent = a_conversation(said=[("first", "user", "  ", SAID[0][3]), *SAID])
    place = Place.of(silent, ingestion="i")

    assert place.turn(next(iter(place.sessions)), 1) == "first:1"


def test_sessions_of_turns_come_once_and_in_order() -> None:
    place = Place.of(TALK, ingestion="i")

    assert place.sessions_of(["second:4", "first:0", "second:5"]) == ["first", "second"]


def test_dates_are_those_of_the_data_alone() -> None:
    said = [("first", "user", "I moved.", None), ("second", "user", "I came back.", MAY)]
    place = Place.of(a_conversation(said=said), ingestion="i")
    undated = Place.of(a_conversation(said=said[:1]), ingestion="i")

    assert [place.is_dated([key]) for key in ("first:0", "second:1")] == [False, True]
    assert place.is_dated(["first:0", "second:1"])
    assert (place.is_dated([]), undated.is_dated([])) == (True, False)
