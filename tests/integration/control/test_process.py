import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agentengine_cli.control.clock import SystemClock
from agentengine_cli.control.process import (
    INSTANCE_VARIABLE,
    LaunchFailed,
    ManagedProcess,
    find_launched,
)

CLOCK = SystemClock()
FOREVER = "import signal; signal.pause()"
UP = "print('up', flush=True); " + FOREVER


def launch(directory: Path, code: str, **environment: str) -> ManagedProcess:
    return ManagedProcess.launch(
        [sys.executable, "-c", code],
        environment=environment,
        directory=directory,
        log=directory / "log",
    )


def test_process_runs_in_its_own_session_with_only_the_environment_given(tmp_path: Path) -> None:
    code = "import os; print(os.getsid(0) == os.getpid(), sorted(os.environ))"
    process = launch(tmp_path, code, ONLY="this", LC_CTYPE="C.UTF-8")

    assert process.wait(clock=CLOCK, timeout_seconds=180)
    assert (tmp_path / "log").read_text() == "True ['LC_CTYPE', 'ONLY']\n"


def test_exit_code_is_known_to_the_parent(tmp_path: Path) -> None:
    process = launch(tmp_path, "raise SystemExit(7)")

    assert process.wait(clock=CLOCK, timeout_seconds=180)
    assert process.poll() == 7


def test_killed_process_reports_its_signal(tmp_path: Path) -> None:
    process = launch(tmp_path, FOREVER)

    process.kill()

    assert process.wait(clock=CLOCK, timeout_seconds=180)
    assert process.poll() == -9


def test_reused_process_id_is_not_ours_and_is_never_signalled(tmp_path: Path) -> None:
    process = launch(tmp_path, FOREVER)
    earlier = replace(process, started_at=process.started_at - 60)

    assert not earlier.is_running
    earlier.kill()

    assert process.is_running
    process.kill()
    assert process.wait(clock=CLOCK, timeout_seconds=180)


def test_adjusted_clock_does_not_lose_the_process(tmp_path: Path) -> None:
    process = launch(tmp_path, UP, **{INSTANCE_VARIABLE: "i1"})
    while not (tmp_path / "log").read_text():  # before that it still has our environment
        os.sched_yield()
    shifted = replace(process, started_at=process.started_at - 3600)

    assert shifted.is_running
    assert not replace(shifted, instance_id="i2").is_running
    process.kill()
    assert process.wait(clock=CLOCK, timeout_seconds=180)


@pytest.mark.parametrize(
    ("mark", "arguments", "instance", "expected"),
    [
        pytest.param("here", ["-c", UP], {INSTANCE_VARIABLE: "i"}, True, id="ours"),
        pytest.param("elsewhere", ["-c", UP], {INSTANCE_VARIABLE: "i"}, False, id="other data"),
        pytest.param("here", ["-u", "-c", UP], {INSTANCE_VARIABLE: "i"}, False, id="other program"),
        pytest.param("here", ["-c", UP], {}, False, id="started by hand"),
    ],
)
def test_only_what_was_launched_here_is_found_again(
    tmp_path: Path, mark: str, arguments: list[str], instance: dict[str, str], expected: bool
) -> None:
    process = ManagedProcess.launch(
        [sys.executable, *arguments],
        environment={"MARK": f"{tmp_path}/{mark}", **instance},
        directory=tmp_path,
        log=tmp_path / "log",
    )
    while not (tmp_path / "log").read_text():  # before that it still has our command line
        os.sched_yield()

    found = find_launched([sys.executable, "-c", UP], "MARK", f"{tmp_path}/here")

    assert [each.pid for each in found] == ([process.pid] if expected else [])
    process.kill()
    assert process.wait(clock=CLOCK, timeout_seconds=180)


def test_program_that_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(LaunchFailed, match="Cannot start /no/such/program"):
        ManagedProcess.launch(
            ["/no/such/program"], environment={}, directory=tmp_path, log=tmp_path / "log"
        )
