from collections.abc import Callable
from pathlib import Path

import pytest

from agentengine_cli import remote_config
from tests.unit.agentengine_cli.conftest import Cli, Ran
from tests.unit.agentengine_cli.stand_in import StandIn

REASON = "embedding: the model is missing"
CONFIG = "memory_only: true\nmemory:\n  log_level: debug\n  extraction:\n    enabled: [semantic]\n"

Ask = Callable[..., Ran]


@pytest.fixture
def ask(
    cli: Cli, home: Path, server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Ran]:
    """Run a `memory` command on the stand-in, from a directory that is not its own."""
    monkeypatch.setattr(remote_config, "POLL_SECONDS", 0.01)
    (home / "project-config.yaml").write_text(CONFIG)
    where = ("--base-url", server.url, "--org-id", "o", "--project-id", "p")
    environ = {"AGENTENGINE_OWNER_TOKEN": "t"}
    return lambda *words: cli("memory", *words, *where, environ=environ)


def test_only_the_memory_mapping_is_sent(ask: Ask, server: StandIn) -> None:
    assert ask("configure", "--yes").code == 0
    assert server.bodies == [
        {"memory": {"log_level": "debug", "extraction": {"enabled": ["semantic"]}}}
    ]


def test_what_the_server_has_against_a_file_is_told_by_its_lines(
    ask: Ask, server: StandIn, home: Path
) -> None:
    server.config_errors = [
        {"loc": ["body", "memory", "extraction", "enabled", 0], "msg": "not here"},
        {"loc": ["body", "memory", "voyage"], "msg": "is missed"},
        {"loc": ["body"], "msg": "no key for it"},
    ]

    refused = ask("configure", "--yes", "--json").error

    file = home / "project-config.yaml"
    assert refused["code"] == "CONFIG_REFUSED"
    assert refused["problems"] == [
        f"{file}:5:15: memory.extraction.enabled[0]: not here",
        f"{file}:3:3: memory.voyage: is missed",
        "no key for it",
    ]


def test_the_servers_warnings_are_passed_on(ask: Ask, server: StandIn) -> None:
    server.warnings = ["an apply would be refused: no key"]

    assert "Warning: an apply would be refused: no key" in ask("configure", "--yes").err


def test_a_server_that_does_not_become_ready_is_told_with_the_reason_last_seen(
    ask: Ask, server: StandIn
) -> None:
    server.state, server.blocked_on = "blocked", [REASON]

    ran = ask("apply", "--wait", "--timeout", "50ms", "--json")

    assert (ran.code, ran.error["code"]) == (1, "NOT_READY")
    assert REASON in ran.error["message"]


def test_an_apply_that_does_not_end_is_told_with_the_reason_last_seen(
    ask: Ask, server: StandIn
) -> None:
    server.applies_for_ever, server.blocked_on = True, [REASON]

    ran = ask("apply", "--timeout", "200ms", "--json")

    assert (ran.code, ran.error["code"]) == (1, "NOT_READY")
    assert REASON in ran.error["message"]
    assert "memory status --base-url" in ran.error["hint"]


def test_a_status_can_be_read_of_a_server_that_is_not_ready(ask: Ask, server: StandIn) -> None:
    server.state, server.blocked_on = "blocked", [REASON]

    ran = ask("status")

    assert (ran.code, ran.out.splitlines()[:2]) == (0, ["state: blocked", f"blocked on: {REASON}"])
