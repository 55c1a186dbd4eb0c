import contextlib
import errno
import os
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from agentengine_cli.control import addresses
from agentengine_cli.control.environment import KeyMissing
from agentengine_cli.control.files import StateUnwritable
from agentengine_cli.control.lock import LockHeld
from agentengine_cli.control.plan import ApplyRequest, EmbeddingSpaceChanged
from agentengine_cli.control.plane import NothingStored, NotReady
from agentengine_cli.control.rollout import StartFailed
from agentengine_cli.control.secrets import SecretScope
from agentengine_cli.control.status import State
from tests.integration.control.conftest import Bench, HastyClock

WAIT = ApplyRequest(wait=True)


def test_applied_configuration_is_the_running_one(bench: Bench) -> None:
    bench.configure()

    applied = bench.plane().apply(WAIT)

    assert (applied.status.state, applied.status.pending) == (State.READY, False)
    assert applied.status.body["instance_id"] == bench.plane().state.server().instance_id  # type: ignore[union-attr]


def test_nothing_stored_is_refused_with_the_command_to_run(bench: Bench) -> None:
    with pytest.raises(NothingStored) as refused:
        bench.plane().apply(WAIT)

    assert "agentengine memory configure" in str(refused.value.hint)


def test_applying_again_leaves_the_server_alone(bench: Bench) -> None:
    bench.configure()
    first = bench.plane().apply(WAIT)

    again = bench.plane().apply(WAIT)

    assert (again.reasons, again.status.pid) == ((), first.status.pid)


def test_force_restarts_and_the_port_stays(bench: Bench) -> None:
    bench.configure()
    first = bench.plane().apply(WAIT).status

    forced = bench.plane().apply(replace(WAIT, force=True)).status

    assert forced.pid != first.pid
    assert forced.applied == first.applied
    assert forced.url == first.url


def test_dry_run_says_what_would_happen_and_changes_nothing(bench: Bench) -> None:
    bench.configure()

    planned = bench.plane().apply(ApplyRequest(dry_run=True))

    assert planned.reasons
    assert bench.plane().status().state is State.NOT_PROVISIONED
    assert not bench.plane().state.delivered.exists()


def test_server_gets_what_it_needs_and_nothing_of_the_shell(bench: Bench) -> None:
    bench.configure()
    (bench.directory / ".env").write_text("MONGODB_URI=mongodb://h\nOTHER=x\n")
    shell = {"PATH": "/bin", "OPENAI_API_KEY": "shell", "OTHER": "y"}

    status = bench.plane(shell=shell).apply(WAIT).status

    environment = status.body["environment"]
    assert environment["AGENTENGINE_CONFIG_DIGEST"] == status.applied.digest  # type: ignore[union-attr]
    assert Path(environment["AGENTENGINE_DATA_DIR"]).is_absolute()
    assert environment["MONGODB_URI"] == "mongodb://h"
    assert environment["MONGOMEM_ENABLED_EXTRACTIONS"].split(",")[0] == "semantic"
    assert not {"OPENAI_API_KEY", "OTHER", "AGENTENGINE_LOCAL_MODELS"} & set(environment)


def test_missing_key_is_refused_before_anything_starts(bench: Bench) -> None:
    bench.configure(llm="{provider: openai}")

    with pytest.raises(KeyMissing):
        bench.plane().apply(WAIT)

    assert bench.plane().status().state is State.NOT_PROVISIONED


def test_local_models_need_no_key_and_the_status_says_so(bench: Bench) -> None:
    bench.configure(llm="{provider: openai}")

    applied = bench.plane().apply(replace(WAIT, local_models=True))

    assert applied.status.body["environment"]["AGENTENGINE_LOCAL_MODELS"] == "1"
    [warning] = applied.status.warnings
    assert "(extraction_llm: openai), by --local-models" in warning


def test_local_models_in_place_of_themselves_are_no_warning(bench: Bench) -> None:
    bench.configure(llm="{provider: local}")

    assert bench.plane().apply(replace(WAIT, local_models=True)).status.warnings == []


def test_changed_secret_is_told_and_makes_an_apply_restart(bench: Bench) -> None:
    bench.configure()
    bench.plane().apply(WAIT)
    (bench.directory / ".env").write_text("LLM_API_KEY=new\n")

    assert "changed since the server started" in bench.plane().status().warnings[-1]
    applied = bench.plane().apply(WAIT)

    assert applied.status.body["environment"]["LLM_API_KEY"] == "new"
    assert applied.status.warnings == []


def test_other_embedding_space_is_refused_once_the_store_holds_something(bench: Bench) -> None:
    (bench.directory / ".env").write_text("VOYAGE_API_KEY=v\n")
    bench.configure()
    running = bench.plane().apply(WAIT).status
    (bench.plane().state.data / "memory.db").touch()
    bench.configure(embedding="{provider: voyage, model: voyage-4-large, dimension: 1024}")

    with pytest.raises(EmbeddingSpaceChanged, match=r"384 -> .*1024"):
        bench.plane().apply(WAIT)

    assert bench.plane().status().pid == running.pid


@pytest.mark.parametrize(("vectors", "refused"), [(0, False), (1, True)])
def test_vectors_of_a_stopped_server_are_counted_in_its_store(
    bench: Bench, vectors: int, refused: bool
) -> None:
    (bench.directory / ".env").write_text("VOYAGE_API_KEY=v\n")
    bench.configure()
    bench.plane().apply(WAIT)
    for number in range(vectors):
        (bench.plane().state.data / str(number)).touch()
    bench.plane().stop()
    bench.configure(embedding="{provider: voyage, model: voyage-4-large, dimension: 1024}")

    expected = pytest.raises(EmbeddingSpaceChanged) if refused else contextlib.nullcontext()
    with expected:
        bench.plane().apply(WAIT)


def test_other_embedding_space_is_fine_while_the_store_is_empty(bench: Bench) -> None:
    bench.configure()
    bench.plane().apply(WAIT)
    bench.plane().secrets.set({"VOYAGE_API_KEY": "v"}, scope=SecretScope.PROJECT)
    bench.configure(embedding="{provider: voyage, model: voyage-4-large, dimension: 1024}")

    assert bench.plane().apply(WAIT).status.state is State.READY


def test_server_that_ends_at_once_leaves_nothing_applied(bench: Bench) -> None:
    bench.configure("error")

    with pytest.raises(StartFailed, match=r"exit code 3.*cannot open the store.*stays pending"):
        bench.plane().apply(ApplyRequest())

    status = bench.plane().status()
    assert (status.state, status.pending, status.applied) == (State.CRASHED, True, None)
    assert "process" in status.warnings[0]
    assert "log: cannot open the store" in status.warnings


def test_old_server_runs_again_when_the_new_configuration_cannot(bench: Bench) -> None:
    bench.configure()
    before = bench.plane().apply(WAIT).status
    bench.configure("error")

    with pytest.raises(StartFailed, match="The previous configuration runs again"):
        bench.plane().apply(ApplyRequest())

    after = bench.plane().status()
    assert (after.state, after.pending, after.url) == (State.READY, True, before.url)
    assert after.applied == before.applied


@pytest.mark.parametrize("wait", [True, False])
def test_blocked_configuration_does_not_replace_a_ready_one(bench: Bench, wait: bool) -> None:
    bench.configure()
    before = bench.plane().apply(WAIT).status
    bench.configure("warning")

    with pytest.raises(StartFailed, match=r"the model is missing.*runs again"):
        bench.hasty_plane().apply(ApplyRequest(wait=wait))

    after = bench.plane().status()
    assert (after.state, after.applied, after.pending) == (State.READY, before.applied, True)


def test_waiting_in_vain_names_the_last_reason_and_keeps_the_server(bench: Bench) -> None:
    bench.configure("warning")

    with pytest.raises(NotReady, match="300 seconds: blocked: embedding: the model is missing"):
        bench.hasty_plane().apply(WAIT)

    status = bench.plane().status()
    assert status.state is State.BLOCKED
    assert status.blocked_on == ("embedding: the model is missing",)


def test_cause_that_waiting_cannot_change_is_not_waited_out(bench: Bench) -> None:
    bench.configure("warning", embedding="{provider: local, model: wordllama}")
    began = bench.plane().clock.monotonic()

    with pytest.raises(NotReady, match=r"by waiting: blocked: .*cannot be loaded"):
        bench.plane().apply(replace(WAIT, wait_seconds=60.0))

    assert bench.plane().clock.monotonic() < began + 60


def test_waiting_is_as_long_as_was_asked_for(bench: Bench) -> None:
    bench.configure("warning")

    with pytest.raises(NotReady, match="not ready after 45 seconds"):
        bench.hasty_plane().apply(replace(WAIT, wait_seconds=45.0))


def test_slow_server_is_not_waited_for_unless_asked(bench: Bench) -> None:
    bench.configure("debug")

    applied = bench.hasty_plane().apply(ApplyRequest())

    assert (applied.status.state, applied.status.pending) == (State.STARTING, False)


def test_progress_is_reported_while_waiting(bench: Bench) -> None:
    bench.configure("warning")
    said: list[str] = []

    with pytest.raises(NotReady):
        bench.hasty_plane().apply(WAIT, said.append)

    assert said[-1] == "blocked: embedding: the model is missing"


def test_second_apply_waits_and_then_names_the_first(bench: Bench) -> None:
    bench.configure()
    plane = bench.plane()

    with plane.state.operation(plane.clock), pytest.raises(LockHeld, match="process"):
        bench.plane(clock=HastyClock(hurries=True)).apply(WAIT)


def test_program_that_cannot_be_started_leaves_nothing_applied(bench: Bench) -> None:
    bench.configure()

    with pytest.raises(StartFailed, match="Cannot start /no/such"):
        bench.plane(command=("/no/such",)).apply(WAIT)

    assert bench.plane().status().pending


def test_program_that_cannot_be_started_does_not_cost_the_running_server(bench: Bench) -> None:
    bench.configure()
    bench.plane().apply(WAIT)
    bench.configure("debug")
    broken = bench.plane(command=("/no/such",))

    with pytest.raises(StartFailed, match="could not be restored"):
        broken.apply(WAIT)

    assert bench.plane().status().state is State.STOPPED
    assert bench.plane().restart().status.state is State.READY


def test_full_disk_does_not_cost_the_running_server(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.configure()
    before = bench.plane().apply(WAIT).status
    bench.configure("debug")

    monkeypatch.setattr(os, "fsync", _disk_is_full)
    with pytest.raises(StateUnwritable, match="No space left"):
        bench.plane().apply(WAIT)
    monkeypatch.undo()

    after = bench.plane().status()
    assert (after.pid, after.state, after.pending) == (before.pid, State.READY, True)


def _disk_is_full(_: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_port_that_another_program_was_quicker_to_take_is_given_up(
    bench: Bench, usual_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter([True])
    free = addresses.is_free
    monkeypatch.setattr(addresses, "is_free", lambda port: next(looks, None) or free(port))
    bench.configure()

    with socket.create_server((addresses.HOST, usual_port)):
        status = bench.plane().apply(ApplyRequest(wait=True)).status

    assert status.state is State.READY
    assert status.record is not None
    assert status.record.port != usual_port


def test_pinned_port_that_another_program_was_quicker_to_take_is_named(
    bench: Bench, usual_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter([True, True])
    free = addresses.is_free
    monkeypatch.setattr(addresses, "is_free", lambda port: next(looks, None) or free(port))
    bench.configure()

    with (
        socket.create_server((addresses.HOST, usual_port)),
        pytest.raises(StartFailed, match=rf"Port {usual_port} is in use by .*stays pending"),
    ):
        bench.plane().apply(ApplyRequest(wait=True, port=usual_port))


def test_a_start_that_fails_calls_nothing_pending_that_ran_before(
    bench: Bench, usual_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.configure()
    bench.plane().apply(WAIT)
    bench.plane().stop()
    looks = iter([True, True])
    free = addresses.is_free
    monkeypatch.setattr(addresses, "is_free", lambda port: next(looks, None) or free(port))

    with (
        socket.create_server((addresses.HOST, usual_port)),
        pytest.raises(StartFailed, match=rf"Port {usual_port} is in use") as failed,
    ):
        bench.plane().apply(ApplyRequest(wait=True, port=usual_port))

    assert "pending" not in str(failed.value)
    assert not bench.plane().status().pending
