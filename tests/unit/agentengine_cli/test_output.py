import io
import json

import pytest

from agentengine_cli.errors import CliError, Refused
from agentengine_cli.output import Output, harmless
from tests.unit.agentengine_cli.conftest import Terminal


@pytest.fixture
def output() -> Output:
    return Output()


def test_a_record_is_one_line_a_field(output: Output, capsys: pytest.CaptureFixture[str]) -> None:
    output.record({"state": "ready", "tags": ["a", "b"], "since": None, "on": True})

    assert capsys.readouterr().out == "state: ready\ntags: a, b\nsince: -\non: yes\n"


def test_a_table_is_aligned(output: Output, capsys: pytest.CaptureFixture[str]) -> None:
    output.table([{"id": "a", "text": "two\nlines"}, {"id": "bcd", "text": "x"}])

    assert capsys.readouterr().out == "ID   TEXT\na    two lines\nbcd  x\n"


def test_an_empty_table_says_so_on_stderr(
    output: Output, capsys: pytest.CaptureFixture[str]
) -> None:
    output.table([], empty="No jobs")

    assert capsys.readouterr() == ("", "No jobs\n")


def test_with_json_a_table_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    Output(as_json=True).table([{"id": "a"}], document={"jobs": [{"id": "a"}]})

    assert json.loads(capsys.readouterr().out) == {"jobs": [{"id": "a"}]}


def test_json_keeps_letters_that_are_not_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    Output(as_json=True).record({"name": "Zoë"})

    assert "Zoë" in capsys.readouterr().out


def test_warnings_wait_with_json_and_become_part_of_the_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    output = Output(as_json=True)

    output.warning("careful")
    output.error(CliError("no", hint="do this", problems=["one"]))
    output.finish()

    assert json.loads(capsys.readouterr().err) == {
        "error": {
            "code": "FAILED",
            "message": "no",
            "hint": "do this",
            "problems": ["one"],
            "warnings": ["careful"],
        }
    }


def test_an_error_begins_a_line_of_its_own_after_an_answer_that_broke_off(
    output: Output, capsys: pytest.CaptureFixture[str]
) -> None:
    output.stream("An ans")
    output.error(CliError("Interrupted"))
    output.error(CliError("again"))

    assert capsys.readouterr() == ("An ans\n", "Error: Interrupted\nError: again\n")


def test_a_reason_that_says_the_same_as_the_error_is_told_once(
    output: Output, capsys: pytest.CaptureFixture[str]
) -> None:
    output.error(CliError("a: too long", problems=["a: too long", "b: missing"]))

    assert capsys.readouterr().err == "Error: a: too long\n  - b: missing\n"


def test_hints_and_notes_are_for_readers_only(capsys: pytest.CaptureFixture[str]) -> None:
    output = Output(as_json=True)

    output.hint("do this")
    output.note("that was it")

    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("verbosity", "said"), [(0, ""), (1, "i\n"), (2, "i\nd\n")])
def test_the_more_is_asked_the_more_is_told(
    output: Output, capsys: pytest.CaptureFixture[str], verbosity: int, said: str
) -> None:
    output.verbosity = verbosity

    output.info("i")
    output.debug("d")

    assert capsys.readouterr().err == said


def test_remembered_text_cannot_steer_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.BytesIO()
    monkeypatch.setattr("sys.stdout", Terminal(screen, write_through=True))

    Output().result("a\x1b[2Jb\x9bc\nd\te")

    assert screen.getvalue().decode() == "a\\x1b[2Jb\\x9bc\nd\te\n"


def test_a_pipe_gets_the_text_as_it_is(output: Output, capsys: pytest.CaptureFixture[str]) -> None:
    output.result("a\x1bb")

    assert capsys.readouterr().out == "a\x1bb\n"
    assert harmless("a\x1bb") == "a\\x1bb"


def test_nothing_is_asked_where_nobody_can_answer(
    output: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"y\n")))

    with pytest.raises(Refused, match="nobody could be asked: Delete all") as refused:
        output.confirm("Delete all?", yes=False)

    assert "--yes" in (refused.value.hint or "")


def test_nothing_is_asked_with_json_even_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in ("sys.stdin", "sys.stderr"):
        monkeypatch.setattr(stream, Terminal(io.BytesIO(b"y\n")))

    with pytest.raises(Refused):
        Output(as_json=True).confirm("Delete all?", yes=False)


def test_yes_agrees_beforehand(output: Output) -> None:
    output.confirm("Delete all?", yes=True)


@pytest.mark.parametrize(("answer", "agreed"), [(b"y\n", True), (b"n\n", False), (b"\n", False)])
def test_on_a_terminal_the_user_decides(
    output: Output, monkeypatch: pytest.MonkeyPatch, answer: bytes, agreed: bool
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal(io.BytesIO(answer)))
    monkeypatch.setattr("sys.stderr", Terminal(io.BytesIO()))

    try:
        output.confirm("Delete all?", yes=False)
    except Refused:
        assert not agreed
    else:
        assert agreed


def test_progress_that_nobody_watches_is_one_line_at_the_end(
    output: Output, capsys: pytest.CaptureFixture[str]
) -> None:
    with output.progress(3, "Imported") as progress:
        progress.advance(2)
        assert capsys.readouterr().err == ""

    assert capsys.readouterr().err.startswith("Imported: 2 of 3 in ")


def test_progress_on_a_terminal_moves(output: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.BytesIO()
    monkeypatch.setattr("sys.stderr", Terminal(screen, write_through=True))
    monkeypatch.setenv("TERM", "xterm")

    with output.progress(3, "Imported") as progress:
        progress.advance(3)

    assert "3/3" in screen.getvalue().decode()


def test_a_status_that_nobody_watches_is_told_once_a_change_to_those_who_asked(
    output: Output, capsys: pytest.CaptureFixture[str]
) -> None:
    output.verbosity = 1

    with output.status("starting") as status:
        status.update("starting")
        status.update("ready")

    assert capsys.readouterr().err == "starting\nready\n"


def test_text_is_broken_at_the_terminals_width(
    output: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")

    wrapped = output.wrapped("word " * 20 + "\nnext", indent="  ")

    assert max(map(len, wrapped.splitlines())) <= 40
    assert wrapped.splitlines()[-1] == "  next"
