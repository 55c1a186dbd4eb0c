from datetime import timedelta

from memory_server.storage.mongo.clock import DatabaseClock
from tests.clock import START, ManualClock

TRIP = timedelta(milliseconds=20)


def test_until_the_database_told_anything_it_is_the_clock_of_the_machine() -> None:
    assert DatabaseClock(ManualClock()).now() == START


def test_servers_whose_clocks_differ_by_minutes_tell_the_same_time() -> None:
    truth = START
    early, late = (ManualClock(truth + timedelta(minutes=minutes)) for minutes in (-5, 5))
    clocks = [DatabaseClock(early), DatabaseClock(late)]

    for clock in clocks:
        asked = clock.own()
        clock.compare(asked=asked, told=truth + TRIP / 2, answered=asked + TRIP)

    assert [clock.now() for clock in clocks] == [truth, truth]
    assert [clock.ahead for clock in clocks] == [timedelta(minutes=5), timedelta(minutes=-5)]


def test_what_the_way_there_and_back_may_explain_does_not_move_it() -> None:
    clock = DatabaseClock(ManualClock())

    clock.compare(asked=START, told=START + TRIP, answered=START + TRIP)

    assert clock.now() == START
