"""Processes on one port, and what keeps them."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.integration.processes.supervised import COUNT
from tests.processes import SECONDS, until

Start = Callable[[], "subprocess.Popen[bytes]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a supervisor whose processes work in the test's directory."""
    started: list[subprocess.Popen[bytes]] = []

    def supervise() -> "subprocess.Popen[bytes]":
        program = [sys.executable, "-m", "tests.integration.processes.supervised"]
        here = {"PYTHONPATH": os.pathsep.join([str(Path.cwd()), *sys.path])}
        started.append(
            subprocess.Popen(program, cwd=tmp_path, env={**os.environ, **here})  # noqa: S603 ours
        )
        return started[-1]

    yield supervise
    for process in started:
        if process.poll() is None:
            process.terminate()
            process.wait(SECONDS)


def who_answers(directory: Path) -> int:
    port = int((directory / "port").read_text())
    with socket.create_connection(("127.0.0.1", port), SECONDS) as caller:
        return int(caller.recv(64))


def pids(supervisor: "subprocess.Popen[bytes]") -> set[int]:
    return {child.pid for child in psutil.Process(supervisor.pid).children()}


def test_processes_share_the_port_and_end_when_told(start: Start, tmp_path: Path) -> None:
    supervisor = start()
    until((tmp_path / "serving").exists)
    before = pids(supervisor)
    answering = who_answers(tmp_path)

    supervisor.send_signal(signal.SIGTERM)

    assert supervisor.wait(SECONDS) == 0
    assert (len(before), answering in before) == (COUNT, True)
    assert not [pid for pid in before if psutil.pid_exists(pid)]
    with pytest.raises(ConnectionRefusedError):
        who_answers(tmp_path)


def test_a_process_that_dies_is_started_again(start: Start, tmp_path: Path) -> None:
    supervisor = start()
    until((tmp_path / "serving").exists)
    dead, other = sorted(pids(supervisor))

    psutil.Process(dead).kill()

    new = until(lambda: pids(supervisor) - {dead, other})
    until(lambda: who_answers(tmp_path) in {other, *new})
    assert supervisor.poll() is None


def test_one_that_cannot_serve_at_all_ends_the_supervisor_with_its_code(
    start: Start, tmp_path: Path
) -> None:
    (tmp_path / "exit").write_text("98")

    assert start().wait(SECONDS) == 98
    assert not (tmp_path / "serving").exists()


def test_one_that_cannot_serve_ends_the_others_that_are_starting(
    start: Start, tmp_path: Path
) -> None:
    (tmp_path / "exit-one").write_text("7")
    supervisor = start()
    others = until(lambda: pids(supervisor))

    assert supervisor.wait(SECONDS) == 7
    assert not [pid for pid in others if psutil.pid_exists(pid)]


def test_processes_end_with_a_supervisor_that_was_killed(start: Start, tmp_path: Path) -> None:
    supervisor = start()
    until((tmp_path / "serving").exists)
    before = pids(supervisor)

    supervisor.kill()
    supervisor.wait(SECONDS)

    until(
        lambda: {path.name for path in tmp_path.glob("orphan-*")} == {f"orphan-{p}" for p in before}
    )
