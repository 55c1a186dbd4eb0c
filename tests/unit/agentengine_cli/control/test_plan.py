from dataclasses import replace
from typing import Any

import pytest

from agentengine_cli.control.plan import (
    ApplyRequest,
    EmbeddingSpaceChanged,
    UpgradeRefused,
    Vectors,
    Wanted,
    check_embedding_space,
    check_upgrade,
    reasons_to_start,
    space_changes,
    space_of,
)
from agentengine_cli.control.state import ServerRecord
from agentengine_cli.control.status import State, Status

RECORD = ServerRecord(
    pid=1,
    process_started_at=1.0,
    url="http://127.0.0.1:8080",
    port=8080,
    instance_id="i",
    config_digest="d",
    started_at="2026-05-04T03:02:01+00:00",
    environment_digest="e",
)
RUNNING = Status(state=State.READY, record=RECORD, body={"version": "1.0.0"})
WANTED = Wanted(digest="d", local_models=False, environment_digest="e", port=None, version="1.0.0")


def test_healthy_server_with_the_right_configuration_is_left_alone() -> None:
    assert reasons_to_start(RUNNING, WANTED, ApplyRequest()) == ()


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (State.STOPPED, "the server is stopped"),
        (State.CRASHED, "the server crashed"),
        (State.NOT_PROVISIONED, "the server was never started"),
    ],
)
def test_server_that_does_not_run_is_started(state: State, words: str) -> None:
    assert reasons_to_start(replace(RUNNING, state=state), WANTED, ApplyRequest()) == (words,)


@pytest.mark.parametrize(
    ("changes", "request_", "word"),
    [
        pytest.param({"digest": "other"}, ApplyRequest(), "not applied", id="configuration"),
        pytest.param({"local_models": True}, ApplyRequest(), "built-in", id="local models"),
        pytest.param({"environment_digest": "x"}, ApplyRequest(), ".env", id="keys"),
        pytest.param({"port": 9}, ApplyRequest(), "port", id="port"),
        pytest.param({"version": "1.1.0"}, ApplyRequest(upgrade=True), "1.1.0", id="upgrade"),
        pytest.param({}, ApplyRequest(force=True), "--force", id="force"),
    ],
)
def test_each_difference_is_a_reason(
    changes: dict[str, Any], request_: ApplyRequest, word: str
) -> None:
    (reason,) = reasons_to_start(RUNNING, replace(WANTED, **changes), request_)

    assert word in reason


def test_newer_version_alone_is_no_reason_without_upgrade() -> None:
    assert reasons_to_start(RUNNING, replace(WANTED, version="2.0"), ApplyRequest()) == ()


@pytest.mark.parametrize(
    ("running", "installed"), [("1.0.0", "0.9.9"), ("1.10.0", "1.9.0"), ("1.0", "1.0+local")]
)
def test_upgrade_that_is_not_forward_needs_force(running: str, installed: str) -> None:
    with pytest.raises(UpgradeRefused, match="cannot be shown"):
        check_upgrade(running, installed, force=False)

    check_upgrade(running, installed, force=True)


@pytest.mark.parametrize(
    ("running", "installed"), [(None, "1.0"), ("1.0", "1.0"), ("1.9.0", "1.10.0")]
)
def test_upgrade_that_is_forward_is_let_through(running: str | None, installed: str) -> None:
    check_upgrade(running, installed, force=False)


def test_changed_dimension_is_refused_naming_old_new_and_the_way() -> None:
    with pytest.raises(EmbeddingSpaceChanged, match="a@1024 -> a@512") as refused:
        check_embedding_space(Vectors(space="a@1024", count=7), "a@512")

    assert "agentengine memory reembed" in (refused.value.hint or "")


def test_a_store_nobody_can_ask_counts_as_holding_vectors() -> None:
    with pytest.raises(EmbeddingSpaceChanged):
        check_embedding_space(Vectors(space="a@1024"), "a@512")


@pytest.mark.parametrize(
    ("vectors", "wanted"),
    [
        (Vectors(space="a@1024", count=0), "a@512"),
        (Vectors(space="a@1024", count=7), "a@1024"),
        (Vectors(space="a@1024", target="a@512", count=7), "a@512"),
        (Vectors(space="a@1024", target="a@512", count=7), "a@1024"),
    ],
    ids=["nothing stored", "the same", "the one being made", "back to the one that answers"],
)
def test_a_space_that_fits_is_let_through(vectors: Vectors, wanted: str) -> None:
    check_embedding_space(vectors, wanted)


def test_a_reembedding_says_what_becomes_of_which_vectors() -> None:
    vectors = Vectors(space="a@1024", target="b@8", count=7)

    given_up, made = space_changes(vectors, "a@512")

    assert "b@8 is given up" in given_up
    assert "7 vectors are made anew in the background: a@1024 -> a@512" in made
    assert space_changes(vectors, "b@8") == ()
    assert space_changes(Vectors(space="a@1024", count=0), "b@8") == ()


def test_local_models_are_another_space_than_the_configured_ones() -> None:
    hosted: dict[str, Any] = {"voyage": {"dimension": 1024}}

    assert space_of(hosted, local_models=False) == "voyage-4-large@1024"
    assert space_of(hosted, local_models=True) == "bge-small-en-v1.5@384"
