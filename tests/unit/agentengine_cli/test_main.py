import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentengine_cli import main as front
from agentengine_cli.commands import version
from agentengine_cli.filelog import redacted
from tests.unit.agentengine_cli.conftest import Cli, a_turn

COMMANDS = (
    ("memory", "show"),
    ("memory", "import"),
    ("memory", "configure"),
    ("create",),
    ("invoke",),
    ("service-account", "create"),
    ("auth", "status"),
    ("version",),
)
SECRETS = (
    "ae_sa_sk_abcdefgh12345678",
    "sk-proj-abcdefgh12345678",
    "Bearer abcdefgh.12345678",
    "eyJhbGciOiJIUzI1NiJ9.e30.abcdefgh",
)


def _broken(installed: str | None) -> dict[str, str]:
    raise ZeroDivisionError(f"a defect beside {SECRETS[0]}")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_takes_the_global_options(cli: Cli, command: tuple[str, ...]) -> None:
    said = cli(*command, "-h").out

    for option in ("--quiet", "--verbose", "--log-file", "--log-level", "--no-log", "--help"):
        assert option in said


@pytest.mark.parametrize(
    "arguments",
    [("--no-log", "version"), ("version", "--no-log"), ("auth", "--no-log", "status")],
    ids=["before", "after", "between"],
)
def test_global_options_may_stand_anywhere(
    cli: Cli, home: Path, arguments: tuple[str, ...]
) -> None:
    assert cli(*arguments).code == 0
    assert not (home / "state").exists()


def test_help_alone_ends_well_and_a_group_alone_shows_help(cli: Cli) -> None:
    assert cli("--help").code == 0
    assert cli("memory").code == 0
    assert cli("memory").out == cli("memory", "--help").out


@pytest.mark.parametrize(
    ("arguments", "nearest"),
    [
        (("memry",), "Did you mean 'memory'"),
        (("memory", "imprt"), "Did you mean 'import'"),
        (("version", "--ful"), "--full"),
        (("version", "--log-levle", "x"), "--log-level"),
    ],
)
def test_an_unknown_word_is_wrong_usage_and_the_nearest_one_is_suggested(
    cli: Cli, arguments: tuple[str, ...], nearest: str
) -> None:
    ran = cli(*arguments)

    assert (ran.code, ran.out) == (2, "")
    assert nearest in ran.err


def test_wrong_usage_names_the_help_of_the_command(cli: Cli) -> None:
    assert "Hint: agentengine memory show --help" in cli("memory", "show").err


def test_a_word_that_is_no_choice_is_answered_with_the_choices(cli: Cli) -> None:
    assert (
        "Invalid value for '--source': 'x' is not one of 'memory'"
        in cli("logs", "--source", "x").err
    )


def test_with_json_even_wrong_usage_is_one_json_object(cli: Cli) -> None:
    ran = cli("memory", "show", "--bogus", "--json")

    assert (ran.code, ran.out, ran.error["code"]) == (2, "", "WRONG_USAGE")
    assert "--bogus" in ran.error["message"]


def test_an_unknown_log_level_is_wrong_usage(cli: Cli) -> None:
    assert "error, warn, info, debug" in cli("version", "--log-level", "loud").err


def test_the_log_goes_to_the_users_state_directory(cli: Cli, home: Path) -> None:
    cli("version", "--log-level", "debug")

    log = home / "state" / "agentengine" / "agentengine.log"
    assert "agentengine version begins" in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("prefix", ["AGENTENGINE_", "AGENTIC_"])
def test_the_environment_says_where_the_log_goes_and_what_it_holds(
    cli: Cli, home: Path, prefix: str
) -> None:
    cli("version", environ={f"{prefix}LOG_FILE": "my.log", f"{prefix}LOG_LEVEL": "debug"})

    assert "begins" in (home / "my.log").read_text()


@pytest.mark.parametrize("name", ["AGENTENGINE_NO_LOG", "AGENTIC_NO_LOG"])
def test_the_environment_can_switch_the_log_off(cli: Cli, home: Path, name: str) -> None:
    cli("version", environ={name: "true"})

    assert not (home / "state").exists()


def test_an_option_wins_over_the_environment(cli: Cli, home: Path) -> None:
    cli("version", "--log-file", "mine.log", environ={"AGENTENGINE_LOG_FILE": "theirs.log"})

    assert (home / "mine.log").exists()
    assert not (home / "theirs.log").exists()


def test_a_log_that_cannot_be_opened_does_not_fail_the_command(cli: Cli, home: Path) -> None:
    ran = cli("version", "--log-file", str(home))

    assert ran.code == 0
    assert "Warning: No log is kept" in ran.err


def test_errors_are_logged_but_arguments_are_not(cli: Cli, home: Path) -> None:
    cli("memory", "retry", SECRETS[0])

    log = (home / "state" / "agentengine" / "agentengine.log").read_text()
    assert "NO_PROJECT_CONFIG" in log
    assert SECRETS[0] not in log


@pytest.mark.parametrize("secret", SECRETS)
def test_what_looks_like_a_secret_is_taken_out_of_the_log(secret: str) -> None:
    assert secret[-8:] not in redacted(f"failed with {secret} there")
    assert "hunter2" not in redacted("mongodb://ana:hunter2@host/db")


def test_a_defect_is_one_line_and_its_details_are_in_the_log(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(version, "_everything", _broken)

    ran = cli("version", "--full")

    log = home / "state" / "agentengine" / "agentengine.log"
    assert ran.code == 1
    assert ran.err == (
        f"Error: This is a defect in agentengine (ZeroDivisionError)\n"
        f"Hint: The details are in {log}\n"
    )
    assert "Traceback" in log.read_text()
    assert SECRETS[0] not in log.read_text()


def test_a_defect_shows_its_trace_to_who_asks_for_everything(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(version, "_everything", _broken)

    assert "Traceback" in cli("version", "--full", "-vv").err


def test_an_interrupted_command_ends_with_130(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(installed: str | None) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(version, "_everything", interrupted)

    assert cli("version", "--full").code == 130
    assert cli("version", "--full", "--json").error["code"] == "INTERRUPTED"


def test_quiet_leaves_only_errors_on_stderr(cli: Cli, home: Path) -> None:
    assert cli("create", "--memory-only", "--name", "x", "-q").err == ""
    assert cli("memory", "retry", "-q", "x").err.startswith("Error: ")


@pytest.mark.parametrize("flags", [(), ("-u",)])
@pytest.mark.parametrize(
    "words",
    [("version", "--full"), ("--version",), ("--help",), ("memory", "--help"), (), ("dev",)],
)
def test_a_reader_who_leaves_early_is_no_failure_to_talk_about(
    home: Path, flags: tuple[str, ...], words: tuple[str, ...]
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, *flags, "-m", "agentengine_cli.main", *words]

    ran = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)  # noqa: S603
    os.close(writing)

    assert (ran.returncode, ran.stderr) == (0, b"")


def test_a_connection_that_breaks_is_told(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(installed: str | None) -> None:
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    monkeypatch.setattr(version, "_everything", broken)

    ran = cli("version", "--full")

    assert (ran.code, "Broken pipe" in ran.err) == (1, True)


def test_what_is_being_done_goes_on_when_nobody_listens_to_its_remarks(home: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "agentengine_cli.main", "create", "--memory-only"]
    command += ["--name", "\N{SNOWMAN}", "--yes"]

    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=writing, check=False)  # noqa: S603
    os.close(writing)

    assert ran.returncode == 0
    assert b"Created" in ran.stdout


def test_text_the_terminal_cannot_show_is_no_failure(home: Path) -> None:
    (home / "t.jsonl").write_text(f"{a_turn(role='é')}".replace("'", '"'), encoding="utf-8")
    command = [sys.executable, "-m", "agentengine_cli.main", "memory", "import", "t.jsonl"]
    narrow = {**os.environ, "PYTHONIOENCODING": "ascii"}

    ran = subprocess.run(command, env=narrow, capture_output=True, check=False)  # noqa: S603 - ours

    assert b"\\xe9" in ran.stderr
    assert ran.returncode == 1


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_a_stream_the_shell_closed_is_no_failure(home: Path, closed: str) -> None:
    (home / "project-config.yaml").write_text("memory_only: true\nmemory: {}\n")
    program = f'"{sys.executable}" -m agentengine_cli.main memory status {closed}'

    ran = subprocess.run(["sh", "-c", program], capture_output=True, text=True, check=False)  # noqa: S603, S607 - ours

    assert ran.returncode == 0
    assert ("state: " in ran.stdout) is (closed != ">&-")
    assert ("Target: " in ran.stderr) is (closed != "2>&-")


def test_the_installed_command_is_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["agentengine", "version", "--no-log"])

    with pytest.raises(SystemExit) as ended:
        front.entry()

    assert ended.value.code == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [((), "Error: Interrupted\n"), (("--json",), '{"error": {"code": "INTERRUPTED"')],
)
def test_an_interrupt_while_the_program_is_loaded_is_one_line(
    options: tuple[str, ...], said: str
) -> None:
    program = (
        "import sys, agentengine_cli.main as main\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'typer': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "main.entry()\n"
    )
    command = [sys.executable, "-c", program, "version", *options]

    ran = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - ours

    assert (ran.returncode, ran.stdout) == (130, "")
    assert ran.stderr.startswith(said)
    assert ran.stderr.count("\n") == 1


def test_the_version_is_an_option_too(cli: Cli) -> None:
    assert cli("--version").out == cli("version").out


def test_what_loads_slowly_stays_off_the_start() -> None:
    program = "import sys, agentengine_cli.front; print(*sys.modules)"
    command = [sys.executable, "-c", program]

    ran = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - ours

    assert not {"httpx", "rich.console", "fastapi", "numpy", "uvicorn"} & set(ran.stdout.split())
