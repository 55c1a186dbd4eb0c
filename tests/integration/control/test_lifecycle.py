import contextlib
import errno
import os
import signal
import socket
import stat
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from agentengine_cli.control import addresses, server
from agentengine_cli.control.access import local_server
from agentengine_cli.control.addresses import PortTaken
from agentengine_cli.control.clock import SystemClock
from agentengine_cli.control.plan import ApplyRequest
from agentengine_cli.control.plane import ControlPlane, NothingDelivered
from agentengine_cli.control.process import find_launched
from agentengine_cli.control.rollout import StartFailed
from agentengine_cli.control.secrets import SecretScope
from agentengine_cli.control.state import Delivery, StateDirectory
from agentengine_cli.control.status import State
from agentengine_cli.errors import ServerNotRunning
from memory_server import project_config
from tests.integration.control.conftest import STAND_IN, Bench
from tests.ports import free_port

WAIT = ApplyRequest(wait=True)
APPLY = """
import sys
from pathlib import Path
from agentengine_cli.control.plan import ApplyRequest
from agentengine_cli.control.plane import ControlPlane
from agentengine_cli.stack import find
plane = ControlPlane(stack=find(Path(sys.argv[1])), command=sys.argv[2:])
try:
    plane.apply(ApplyRequest(wait=True), lambda text: print(text, flush=True))
except KeyboardInterrupt:
    sys.exit(130)
"""


def started(bench: Bench, level: str = "info") -> ControlPlane:
    bench.configure(level)
    bench.hasty_plane().apply(ApplyRequest(wait=level == "info"))
    return bench.plane()


def apply_in_another_process(bench: Bench) -> "subprocess.Popen[str]":
    return subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-c", APPLY, str(bench.directory), *STAND_IN],
        stdout=subprocess.PIPE,
        text=True,
    )


def test_stopped_server_is_stopped_and_not_crashed(bench: Bench) -> None:
    plane = started(bench)

    assert plane.stop()
    assert not bench.plane().stop()

    status = bench.plane().status()
    assert (status.state, status.pid, status.url) == (State.STOPPED, None, None)


def test_server_is_stopped_where_that_cannot_be_written_down(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    plane = started(bench)
    record = plane.status().record
    assert record is not None

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(StateDirectory, "record_server", full)
        with pytest.raises(OSError, match="No space left"):
            plane.stop()

    assert not record.process.is_running


def test_killed_server_is_a_crash_and_an_apply_starts_it_again(bench: Bench) -> None:
    first = started(bench).status()
    assert first.record is not None
    first.record.process.kill()
    first.record.process.wait(clock=SystemClock(), timeout_seconds=180)

    status = bench.plane().status()
    assert status.state is State.CRASHED
    assert not status.pending

    again = bench.plane().apply(WAIT)
    assert again.reasons == ("the server crashed",)
    assert again.status.url == first.url


def test_server_outlives_the_command_that_started_it(bench: Bench) -> None:
    bench.configure()

    with apply_in_another_process(bench) as command:
        command.communicate(timeout=180)

    assert bench.plane().status().state is State.READY


def test_interrupted_apply_leaves_a_server_that_status_knows(bench: Bench) -> None:
    bench.configure("warning")
    with apply_in_another_process(bench) as command:
        assert command.stdout is not None
        assert any(line.startswith("blocked") for line in command.stdout)
        # Python drops an interrupt that falls into a finalizer; who presses the keys does it again.
        while command.poll() is None:
            command.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                command.wait(timeout=10)
        assert command.returncode == 130

    status = bench.plane().status()
    assert status.state is State.BLOCKED
    assert bench.plane().stop()


def test_killed_command_leaves_no_lock_behind(bench: Bench) -> None:
    bench.configure("warning")
    with apply_in_another_process(bench) as command:
        assert command.stdout is not None
        command.stdout.readline()
        command.kill()

    bench.configure()

    assert bench.plane().apply(WAIT).status.state is State.READY


def test_two_applies_at_once_end_with_one_server(bench: Bench) -> None:
    bench.configure()
    with apply_in_another_process(bench) as one, apply_in_another_process(bench) as two:
        one.communicate(timeout=180)
        two.communicate(timeout=180)

    assert (one.returncode, two.returncode) == (0, 0)
    assert bench.plane().status().state is State.READY
    assert len(_servers(bench)) == 1


def test_server_that_nobody_wrote_down_is_ended_before_another_starts(bench: Bench) -> None:
    plane = started(bench)
    (plane.state.path / "server.json").unlink()

    bench.plane().apply(WAIT)

    assert len(_servers(bench)) == 1


def test_reused_process_id_is_not_taken_for_the_server(bench: Bench) -> None:
    plane = started(bench)
    plane.stop()
    record = plane.state.server()
    assert record is not None
    plane.state.record_server(replace(record, pid=os.getpid(), stopped_at=None))

    assert bench.plane().status().state is State.CRASHED
    assert not bench.plane().stop()


def test_foreign_answer_on_the_recorded_port_is_told(bench: Bench) -> None:
    plane = started(bench, "critical")

    status = plane.status()

    assert status.state is State.BLOCKED
    assert "answers on port" in status.blocked_on[0]
    assert status.body == {}


@pytest.mark.parametrize(
    ("age", "was_ready", "state"),
    [
        (30, False, State.STARTING),
        (90, False, State.NOT_RESPONDING),
        (30, True, State.NOT_RESPONDING),
    ],
)
def test_silent_server_is_starting_only_for_a_while_and_never_once_it_was_ready(
    bench: Bench, age: int, was_ready: bool, state: State
) -> None:
    plane = started(bench)
    record = plane.state.server()
    assert record is not None
    since = plane.clock.now() - timedelta(seconds=age)
    silent = replace(record, port=free_port(), started_at=since.isoformat())
    plane.state.record_server(silent if was_ready else replace(silent, ready_at=None))

    assert record.ready_at is not None
    assert plane.status().state is state


def test_server_that_ignores_sigterm_is_killed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    plane = started(bench, "critical")
    monkeypatch.setattr(server, "STOP_SECONDS", 0.2)

    assert plane.stop()

    assert plane.status().state is State.STOPPED


def test_server_with_a_taken_recorded_port_moves_to_another(bench: Bench) -> None:
    before = started(bench).status()
    bench.plane().stop()
    assert before.record is not None

    with socket.create_server((addresses.HOST, before.record.port)):
        assert "is now in use by" in bench.plane().status().warnings[0]
        after = bench.plane().apply(WAIT).status

    assert (after.state, after.url == before.url) == (State.READY, False)


def test_pinned_port_that_is_taken_costs_nothing(bench: Bench) -> None:
    before = started(bench).status()

    with socket.create_server((addresses.HOST, 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(PortTaken, match=str(port)):
            bench.plane().apply(replace(WAIT, port=port))

    assert bench.plane().status().pid == before.pid


def test_first_server_takes_the_usual_port_and_keeps_it_through_a_clean(
    bench: Bench, usual_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = started(bench).status()
    monkeypatch.setattr(addresses, "USUAL_PORT", free_port())
    bench.plane().clean()

    assert first.url == f"http://127.0.0.1:{usual_port}"
    assert bench.plane().status().state is State.NOT_PROVISIONED
    assert bench.plane().apply(WAIT).status.url == first.url


def test_port_pinned_in_dev_yaml_is_used(bench: Bench) -> None:
    port = free_port()
    (bench.directory / "dev.yaml").write_text(f"services: {{memory: {{port: {port}}}}}\n")

    assert started(bench).status().url == f"http://127.0.0.1:{port}"


def test_delivery_that_never_came_to_a_start_is_not_called_applied(bench: Bench) -> None:
    before = started(bench).status()
    bench.configure("debug")
    plane = bench.plane()
    stored = plane.state.stored()
    assert stored is not None

    delivery = Delivery(document=stored.document, digest=stored.digest, at=None, local_models=False)
    plane.state.deliver(delivery)  # and then the command is killed

    status = bench.plane().status()
    assert (status.applied.digest, status.pending) == (before.applied.digest, True)  # type: ignore[union-attr]


def test_directory_others_could_read_is_closed_to_them(bench: Bench) -> None:
    state = bench.plane().state
    state.path.mkdir(mode=0o755)

    state.prepare()

    assert stat.S_IMODE(state.path.stat().st_mode) == 0o700


def test_restart_runs_the_applied_configuration_not_the_pending_one(bench: Bench) -> None:
    before = started(bench).status()
    bench.configure("error")

    after = bench.plane().restart().status

    assert (after.state, after.pid != before.pid, after.pending) == (State.READY, True, True)


def test_restart_of_what_was_never_started_is_refused(bench: Bench) -> None:
    with pytest.raises(NothingDelivered, match="No memory server was started"):
        bench.plane().restart()


def test_restart_tries_once_more_and_then_says_what_to_do(bench: Bench) -> None:
    plane = started(bench)
    plane.state.delivered.write_text('{"log_level": "error"}')
    (bench.directory / ".env").write_text("VOYAGE_API_KEY=v\nLLM_API_KEY=l\n")
    said: list[str] = []

    with pytest.raises(StartFailed, match="cannot open the store") as failed:
        bench.plane().restart(said.append)

    assert "it ended; trying once more" in said
    assert "agentengine dev up" in str(failed.value.hint)


def test_up_stores_applies_and_is_idempotent(bench: Bench) -> None:
    bench.configure()
    loaded = project_config.load(bench.directory / "project-config.yaml")

    first = bench.plane().up(loaded, WAIT)
    second = bench.plane().up(loaded, WAIT)

    assert (second.reasons, second.status.pid) == ((), first.status.pid)


def test_clean_removes_the_store_and_keeps_what_the_user_typed(bench: Bench) -> None:
    plane = started(bench)
    plane.secrets.set({"LLM_API_KEY": "x"}, scope=SecretScope.PROJECT)
    (plane.state.data / "memory.db").touch()

    gone = plane.clean()

    assert plane.state.data in gone
    assert not plane.state.data.exists()
    status = bench.plane().status()
    assert (status.state, status.pending) == (State.NOT_PROVISIONED, True)
    assert plane.secrets.values() == {"LLM_API_KEY": "x"}


def test_state_is_private_and_the_owner_token_is_made_once(bench: Bench) -> None:
    plane = started(bench)
    token = plane.state.owner_token.read_text()

    bench.plane().apply(replace(WAIT, force=True))

    assert plane.state.owner_token.read_text() == token
    assert len(token.strip()) >= 40
    assert stat.S_IMODE(plane.state.owner_token.stat().st_mode) == 0o600
    assert stat.S_IMODE(plane.state.path.stat().st_mode) == 0o700


def test_other_commands_find_the_running_server(bench: Bench) -> None:
    with pytest.raises(ServerNotRunning, match="not running"):
        local_server(bench.directory)
    plane = started(bench)

    found = local_server(bench.directory)

    assert (found.url, found.project_id) == (plane.url, "local")
    assert found.owner_token not in repr(found)


def test_broken_dotenv_does_not_hide_the_state(bench: Bench) -> None:
    started(bench)
    (bench.directory / ".env").write_bytes(b"\xff")

    status = bench.plane().status()

    assert status.state is State.READY
    assert "not UTF-8" in status.warnings[-1]


def _servers(bench: Bench) -> list[int]:
    """Return the process ids of every server on this store, whatever the records say."""
    data = str(Path(bench.directory).resolve() / ".agentengine" / "data")
    return [process.pid for process in find_launched(STAND_IN, server.DATA_VARIABLE, data)]
