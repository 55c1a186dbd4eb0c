import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.responses import Response

from agentengine_cli import turn_file, turn_line
from memory_server.domain.limits import MAX_CONTENT_BYTES
from tests.unit.agentengine_cli.conftest import Cli, a_turn, announce
from tests.unit.agentengine_cli.stand_in import OWNER_TOKEN, StandIn, failure

Lines = Callable[..., str]


def _conversation(sessions: int, turns: int) -> list[dict[str, str]]:
    """Return sessions whose turns are interleaved."""
    return [
        a_turn(session_id=f"s{session}", content=f"{turn}")
        for turn in range(turns)
        for session in range(sessions)
    ]


def test_every_turn_of_a_file_is_recorded_in_its_sessions_order(
    cli: Cli, stack: Path, server: StandIn, lines: Lines
) -> None:
    ran = cli("memory", "import", lines(*_conversation(5, 7)), "--json")

    assert ran.code == 0
    assert (ran.json["turns"], ran.json["sessions"], ran.json["users"]) == (35, 5, 1)
    for session in range(5):
        said = [turn["content"] for turn in server.turns if turn["session_id"] == f"s{session}"]
        assert said == [f"{turn}" for turn in range(7)]


def test_a_session_id_that_two_users_share_is_a_session_of_each(
    cli: Cli, stack: Path, server: StandIn, lines: Lines
) -> None:
    turns = [a_turn(session_id="desk", user_id=user) for user in ("ana", "bob", "ana")]

    for options in ((), ("--dry-run",)):
        ran = cli("memory", "import", lines(*turns), "--json", *options)

        assert (ran.json["turns"], ran.json["sessions"], ran.json["users"]) == (3, 2, 2)
    assert [turn["user_id"] for turn in server.turns] == ["ana", "bob", "ana"]


def test_the_owner_token_proves_who_imports(
    cli: Cli, stack: Path, server: StandIn, lines: Lines
) -> None:
    cli("memory", "import", lines(a_turn()))

    assert {bearer for _, _, bearer in server.seen} == {f"Bearer {OWNER_TOKEN}"}


def test_a_second_run_writes_nothing_twice(
    cli: Cli, stack: Path, server: StandIn, lines: Lines
) -> None:
    file = lines(*_conversation(3, 4))
    cli("memory", "import", file)

    again = cli("memory", "import", file, "--json")

    assert (again.json["new"], again.json["skipped"]) == (0, 12)
    assert len(server.turns) == 12
    told = cli("memory", "import", file)
    assert told.out.startswith("new: 0, already there: 12\n")
    assert "Sent: 12 of 12 (0 new, 12 already there) in " in told.err


def test_how_many_were_known_is_not_claimed_when_the_server_does_not_say(
    cli: Cli, stack: Path, server: StandIn, lines: Lines
) -> None:
    server.says_duplicate = False

    assert cli("memory", "import", lines(a_turn()), "--json").json["skipped"] is None


def test_turns_appended_to_the_file_are_all_that_a_second_run_adds(
    cli: Cli, stack: Path, server: StandIn, lines: Lines
) -> None:
    first = _conversation(2, 3)
    cli("memory", "import", lines(*first))

    cli("memory", "import", lines(a_turn(session_id="new"), *first, a_turn(session_id="s0")))

    assert [turn["session_id"] for turn in server.turns[6:]] == ["new", "s0"]


def test_equal_words_said_twice_are_two_turns(
    cli: Cli, stack: Path, server: StandIn, lines: Lines
) -> None:
    cli("memory", "import", lines(a_turn(), a_turn()))

    assert len(server.turns) == 2


def test_an_own_key_and_the_time_of_a_line_go_with_the_turn(
    cli: Cli, stack: Path, server: StandIn, lines: Lines
) -> None:
    turn = a_turn(idempotency_key="mine", timestamp="2023-05-08T13:56:00Z", metadata={"a": 1})

    cli("memory", "import", lines(turn))

    assert server.turns[0]["idempotency_key"] == "mine"
    assert server.turns[0]["metadata"] == {"a": 1, "timestamp": "2023-05-08T13:56:00Z"}


@pytest.mark.parametrize(
    "moment", ["2023-05-08T13:56:00Z", "2023-05-08", 1683554160, 1683554160.5, "1683554160000"]
)
def test_times_in_iso_and_as_epoch_numbers_are_taken(
    cli: Cli, stack: Path, server: StandIn, lines: Lines, moment: str | float
) -> None:
    assert cli("memory", "import", lines(a_turn(timestamp=moment))).code == 0
    assert server.turns[0]["metadata"] == {"timestamp": moment}


def test_a_dry_run_sends_nothing_and_needs_no_server(cli: Cli, home: Path, lines: Lines) -> None:
    ran = cli("memory", "import", lines(a_turn()), "--dry-run", "--json")

    assert (ran.code, ran.json["turns"], ran.json["dry_run"]) == (0, 1, True)


def test_byte_order_mark_blank_lines_and_windows_line_ends_are_no_problem(
    cli: Cli, stack: Path, server: StandIn
) -> None:
    text = b"\xef\xbb\xbf" + json.dumps(a_turn(content="Zoë")).encode() + b"\r\n\r\n  \r\n"
    (stack / "w.jsonl").write_bytes(text + json.dumps(a_turn(content="2")).encode())

    ran = cli("memory", "import", "w.jsonl")

    assert ran.code == 0
    assert [turn["content"] for turn in server.turns] == ["Zoë", "2"]


def test_standard_input_can_be_imported(cli: Cli, stack: Path, server: StandIn) -> None:
    ran = cli("memory", "import", "-", stdin=json.dumps(a_turn()).encode())

    assert (ran.code, len(server.turns)) == (0, 1)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        pytest.param(b"{oops", "t:1: not JSON: ", id="no-json"),
        pytest.param(b"\xff{}", "t:1: byte 1 is not UTF-8", id="no-utf8"),
        pytest.param(b"[1]", "t:1: expected an object", id="list"),
        pytest.param(b"[" * 200_000, "t:1: nested too deeply", id="deep"),
        pytest.param(b'{"a": NaN}', "t:1: not JSON: NaN", id="nan"),
        pytest.param(b'{"a": 1e999}', "t:1: not JSON: 1e999 is out of range", id="infinite"),
        pytest.param(
            a_turn(session_id=7), "t:1: session_id: expected text, found a number", id="n"
        ),
        pytest.param(a_turn(user_id="  "), "t:1: user_id: must not be blank", id="blank"),
        pytest.param(a_turn(role="bot"), "t:1: role: expected one of user,", id="role"),
        pytest.param(a_turn(role=[]), "t:1: role: expected one of", id="role-list"),
        pytest.param(
            a_turn(contnet="x"), "t:1: contnet: unknown key; did you mean 'content'", id="k"
        ),
        pytest.param(a_turn(content=""), "t:1: content: a turn of role user needs content", id="c"),
        pytest.param(a_turn(role="tool"), "t:1: tool_call_id: missing", id="tool"),
        pytest.param(a_turn(metadata=[]), "t:1: metadata: expected an object", id="metadata"),
        pytest.param(a_turn(content="\ud800"), "t:1: content: holds half a surrogate", id="half"),
        pytest.param(
            a_turn(content="x" * (MAX_CONTENT_BYTES + 1)), "t:1: content: 262145 bytes", id="large"
        ),
        pytest.param(
            a_turn(timestamp="next week"), "t:1: timestamp: 'next week' is no time", id="no-time"
        ),
        pytest.param(
            a_turn(timestamp="2023-13-08"), "t:1: timestamp: '2023-13-08' is no", id="month"
        ),
        pytest.param(a_turn(timestamp=True), "t:1: timestamp: expected a time", id="true"),
        pytest.param(a_turn(timestamp=1e15), "t:1: timestamp: '1000000", id="far"),
        pytest.param(
            a_turn(timestamp="2023-05-08", metadata={"timestamp": "2024-05-08"}),
            "t:1: timestamp: metadata.timestamp says something else",
            id="two-times",
        ),
    ],
)
def test_what_is_wrong_with_a_line_is_told_with_its_place(
    cli: Cli, stack: Path, server: StandIn, lines: Lines, line: dict[str, str], complaint: str
) -> None:
    ran = cli("memory", "import", lines(line, name="t"))

    assert ran.code == 1
    assert f"  - {complaint}" in ran.err
    assert server.seen == []


def test_all_problems_are_told_at_once_up_to_twenty(cli: Cli, home: Path, lines: Lines) -> None:
    ran = cli("memory", "import", lines(a_turn(), *[a_turn(role="x")] * 25), "--json")

    assert ran.error["message"] == "turns.jsonl has 25 problems; nothing was sent"
    assert len(ran.error["problems"]) == 21
    assert ran.error["problems"][0].startswith("turns.jsonl:2: role: ")
    assert ran.error["problems"][-1] == "and 5 more"


def test_a_huge_line_is_refused_and_the_lines_after_it_are_still_checked(
    cli: Cli, home: Path, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn_file, "MAX_LINE_BYTES", 100)

    ran = cli("memory", "import", lines(b"x" * 350, a_turn(role="x")), "--json")

    assert ran.error["problems"][0] == "turns.jsonl:1: longer than 100 bytes"
    assert ran.error["problems"][1].startswith("turns.jsonl:2: role")


def test_an_empty_file_is_an_error(cli: Cli, home: Path, lines: Lines) -> None:
    assert "holds no turns" in cli("memory", "import", lines(b"")).err


def test_a_missing_file_is_named(cli: Cli, home: Path) -> None:
    ran = cli("memory", "import", "absent.jsonl")

    assert (ran.code, ran.err) == (1, "Error: absent.jsonl: No such file or directory\n")


def test_a_refused_line_ends_its_session_and_no_other(
    cli: Cli, stack: Path, server: StandIn, lines: Lines
) -> None:
    def refuse(turn: dict[str, str]) -> Response | None:
        is_it = (turn["session_id"], turn["content"]) == ("s1", "1")
        return failure(400, "INVALID_REQUEST", "content: no") if is_it else None

    server.refuse = refuse

    ran = cli("memory", "import", lines(*_conversation(3, 3)))

    assert ran.code == 1
    assert "turns.jsonl:5: content: no (INVALID_REQUEST)" in ran.err
    assert "2 of 9 turns were not recorded" in ran.err
    assert len(server.turns) == 7


def test_a_rejected_token_stops_everything_at_once(
    cli: Cli, stack: Path, server: StandIn, lines: Lines
) -> None:
    server.refuse = lambda turn: failure(401, "NOT_AUTHENTICATED", "no")

    ran = cli("memory", "import", lines(*_conversation(50, 2)), "--concurrency", "2")

    assert ran.code == 1
    assert len(server.seen) == 2


def test_a_server_that_does_not_answer_is_told_with_what_to_do(
    cli: Cli, stack: Path, lines: Lines
) -> None:
    announce(stack, "http://127.0.0.1:9")

    ran = cli("memory", "import", lines(a_turn()))

    assert ran.code == 1
    assert "does not answer at http://127.0.0.1:9" in ran.err
    assert "Run the same command again" in ran.err


def test_ctrl_c_says_how_far_it_came_and_running_again_completes_it(
    cli: Cli, stack: Path, server: StandIn, lines: Lines
) -> None:
    file = lines(*_conversation(4, 100))
    command = [sys.executable, "-m", "agentengine_cli.main", "memory", "import", file]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)  # noqa: S603 - ours

    def interrupt(turn: dict[str, str]) -> None:
        if (turn["session_id"], turn["content"]) == ("s2", "10"):
            child.send_signal(signal.SIGINT)

    server.refuse = interrupt
    said = child.communicate(timeout=60)[1]

    assert child.returncode == 130
    assert "of 400 turns (" in said
    assert " new, 0 already there)\nHint: Run the same command again" in said
    assert 0 < len(server.turns) < 400
    assert cli("memory", "import", file).code == 0
    assert len(server.turns) == 400


def test_the_limit_of_a_content_is_the_servers() -> None:
    assert turn_line.MAX_CONTENT_BYTES == MAX_CONTENT_BYTES
