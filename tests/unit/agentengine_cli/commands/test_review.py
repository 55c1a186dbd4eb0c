import pytest

from agentengine_cli.control.report import told_review
from tests.unit.agentengine_cli.conftest import Cli


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
