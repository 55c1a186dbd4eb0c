from pathlib import Path

import pytest

from agentengine_cli.control.report import told_review
from tests.unit.agentengine_cli.commands.documents import a_proposal
from tests.unit.agentengine_cli.conftest import Cli
from tests.unit.agentengine_cli.stand_in import StandIn


@pytest.mark.parametrize("verb", ["approve", "reject"])
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "Name proposals by their ids, or say --all"),
        (("p1", "--all"), "Name proposals by their ids, or say --all"),
        (("p1", "--user-id", "ana"), "--user-id and --type go with --all"),
    ],
)
def test_whatever_does_not_say_which_is_refused_before_a_server_is_asked(
    cli: Cli, verb: str, arguments: tuple[str, ...], problem: str
) -> None:
    ran = cli("memory", "review", verb, *arguments, "--json")

    assert ran.code == 2
    assert problem in ran.error["message"]


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("--state", ("pending", "approved", "rejected", "any")),
        ("--type", ("semantic", "episodic", "taxonomic", "procedural")),
    ],
)
def test_a_value_that_is_none_is_told_with_the_option_and_its_values(
    cli: Cli, option: str, values: tuple[str, ...]
) -> None:
    ran = cli("memory", "review", option, "foo", "--json")

    assert ran.code == 2
    assert option in ran.error["message"]
    assert "'foo'" in ran.error["message"]
    assert all(f"'{value}'" in ran.error["message"] for value in values)


def test_a_list_tells_when_it_was_said_and_since_when_it_waits(
    cli: Cli, stack: Path, server: StandIn
) -> None:
    server.proposals = [a_proposal()]

    ran = cli("memory", "review", "--state", "any")

    assert "SAID_AT" in ran.out
    assert "WAITS_SINCE" in ran.out
    assert "2026-03-01 10:00" in ran.out
    assert "2026-05-04 12:00" in ran.out


def test_a_reason_that_is_not_kept_is_told(cli: Cli, stack: Path, server: StandIn) -> None:
    server.proposals = [a_proposal(state="rejected", warnings=["it was rejected before"])]

    ran = cli("memory", "review", "reject", "p1", "--reason", "again")

    assert ran.code == 0
    assert "Warning: p1: it was rejected before" in ran.err


@pytest.mark.parametrize(
    "command", [("memory", "search", "home"), ("memory", "show")], ids=["search", "show"]
)
def test_where_nothing_is_found_what_waits_for_a_decision_is_told(
    cli: Cli, stack: Path, server: StandIn, command: tuple[str, ...]
) -> None:
    server.proposals = [a_proposal(), a_proposal(id="p2")]

    ran = cli(*command, "--user-id", "ana")

    assert ran.code == 0
    assert "2 proposals wait for a decision" in ran.err
    assert "agentengine memory review --user-id ana" in " ".join(ran.err.split())


def test_a_search_without_a_user_says_whose_memories_were_searched(
    cli: Cli, stack: Path, server: StandIn
) -> None:
    of_all, of_one = cli("memory", "search", "x"), cli("memory", "search", "x", "--user-id", "ana")

    assert "what you may see of every user was searched" in of_all.err
    assert "every user" not in of_one.err
    assert cli("memory", "search", "x", "--json").json["user_id"] is None


def test_an_edit_needs_words(cli: Cli) -> None:
    ran = cli("memory", "review", "edit", "p1", "--json")

    assert ran.code == 2
    assert "--text" in ran.error["message"]


@pytest.mark.parametrize(
    ("told", "line"),
    [
        ({"approval": "manual", "pending": 1}, "1 proposal waits for a decision; agentengine"),
        ({"approval": "manual", "pending": 0}, "nothing waits for a decision"),
        ({"approval": "automatic", "pending": 2}, "2 proposals wait for a decision; what is"),
        ({"approval": "automatic", "pending": 0}, ""),
        ({}, ""),
        (None, ""),
    ],
)
def test_status_tells_what_waits_and_whether_more_will(told: object, line: str) -> None:
    said = told_review(told)

    assert said.startswith(line)
    assert bool(said) is bool(line)
