"""memory show ID: one memory and the words it rests on."""

from pathlib import Path
from typing import Any

import pytest

from tests.unit.agentengine_cli.commands.documents import a_memory
from tests.unit.agentengine_cli.conftest import Cli
from tests.unit.agentengine_cli.stand_in import StandIn


def the_memory() -> dict[str, Any]:
    """Return a memory whose former version rests on other words."""
    memory = a_memory(content="Ana lives in Lisbon.")
    (now,) = memory["evidence"]
    turn = now["turns"][0] | {"content": "I live in Porto", "turn_seq": 1}
    before = now | {"turns": [turn], "session_id": "s0", "action": "ADD", "reason": "nothing known"}
    memory["history"][0]["evidence"] = [before]
    return memory


def test_memory_is_shown_with_all_words_it_rests_on(cli: Cli, stack: Path, server: StandIn) -> None:
    memory = the_memory()
    memory["evidence"][0]["turns"][0]["content"] = "word " * 99 + "moved"
    server.memories = [a_memory(id="m0"), memory | {"id": "m9"}]

    ran = cli("memory", "show", "m9", "--evidence", "--history")

    told = " ".join(ran.out.split())
    assert "[3] Ana, 2024-05-08 10:00: word" in told
    assert told.count("word") == 99
    assert "UPDATE: a new value" in told
    assert "was: Ana lives in Porto." in told
    assert "[1] Ana, 2024-05-08 10:00: I live in Porto" in told
    assert "id m9" in told
    assert "m0" not in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("2 March 2026", "took place on 2 March 2026, confirmed"),
        ("on 2 march 2026", "took place on 2 March 2026, confirmed"),
        ("yesterday", "took place on 2 March 2026, said as 'yesterday', confirmed"),
    ],
)
def test_words_of_a_time_are_told_only_where_they_are_others_than_those_shown(
    cli: Cli, stack: Path, server: StandIn, words: str, told: str
) -> None:
    event = {"in_words": "on 2 March 2026", "words": words}
    server.memories = [a_memory(id="m9", event_time=event)]

    assert told in " ".join(cli("memory", "show", "m9").out.split())


def test_words_and_history_are_left_out_where_they_are_not_asked_for(
    cli: Cli, stack: Path, server: StandIn
) -> None:
    server.memories = [the_memory()]

    without_words = cli("memory", "show", "m1", "--no-evidence")
    without_history = cli("memory", "show", "m1", "--no-history")

    assert "Ana lives in Porto." in without_words.out
    assert "I live in Porto" not in without_words.out
    assert "I moved" in without_history.out
    assert "Porto" not in without_history.out


def test_as_json_it_is_one_document(cli: Cli, stack: Path, server: StandIn) -> None:
    server.memories = [the_memory()]

    shown = cli("memory", "show", "m1", "--json").json
    without = cli("memory", "show", "m1", "--json", "--no-evidence").json

    assert shown["evidence"][0]["turns"][0]["speaker"] == "Ana"
    assert shown["history"][0]["evidence"][0]["session_id"] == "s0"
    assert "evidence" not in without
    assert "evidence" not in without["history"][0]


@pytest.mark.parametrize(
    ("left", "told"),
    [
        ({}, "the words of 2 turns are gone, last said 2024-05-08 10:00 by Ana"),
        ({"speakers": []}, "the words of 2 turns are gone, last said 2024-05-08 10:00"),
        ({"missing_turns": 1, "said_at": None}, "the words of 1 turn are gone by Ana"),
    ],
)
def test_words_that_are_gone_are_told_with_when_they_were_said(
    cli: Cli, stack: Path, server: StandIn, left: dict[str, Any], told: str
) -> None:
    memory = the_memory()
    memory["evidence"][0] |= {"turns": [], "missing_turns": 2} | left
    server.memories = [memory]

    ran = cli("memory", "show", "m1")

    assert told in " ".join(ran.out.split())


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"is_latest": False, "superseded_by": None}, "taken back"),
        ({"is_latest": False, "superseded_by": "m2"}, "superseded"),
        ({"deleted": True}, "deleted"),
    ],
)
def test_memory_that_does_not_hold_any_more_says_so(
    cli: Cli, stack: Path, server: StandIn, changes: dict[str, Any], told: str
) -> None:
    server.memories = [the_memory() | changes]

    assert f", {told}" in " ".join(cli("memory", "show", "m1").out.split())


def test_id_that_no_memory_has_is_told(cli: Cli, stack: Path, server: StandIn) -> None:
    ran = cli("memory", "show", "m404")

    assert (ran.code, "m404" in ran.err, ran.out) == (1, True, "")


@pytest.mark.parametrize(
    "arguments", [(), ("m1", "--user-id", "ana"), ("m1", "--type", "semantic")]
)
def test_either_an_id_or_a_user_is_named(
    cli: Cli, stack: Path, server: StandIn, arguments: tuple[str, ...]
) -> None:
    ran = cli("memory", "show", *arguments)

    assert (ran.code, ran.out) == (2, "")
