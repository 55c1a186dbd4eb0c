import stat
from pathlib import Path

import pytest

from agentengine_cli.control.files import StateDamaged
from agentengine_cli.control.secrets import (
    LIMIT_PER_SCOPE,
    InvalidSecretName,
    ResourceLimitExceeded,
    SecretNotFound,
    SecretScope,
    SecretStore,
    check_name,
)
from agentengine_cli.control.state import StateDirectory
from tests.unit.agentengine_cli.control.manual_clock import ManualClock

PROJECT, WORKSPACE = SecretScope.PROJECT, SecretScope.WORKSPACE


@pytest.fixture
def secrets(tmp_path: Path) -> SecretStore:
    return SecretStore(StateDirectory(tmp_path), ManualClock())


def test_secret_gets_a_new_version_and_keeps_its_description(secrets: SecretStore) -> None:
    secrets.set({"LLM_API_KEY": "a"}, scope=PROJECT, description="for extraction")

    (changed,) = secrets.set({"LLM_API_KEY": "b"}, scope=PROJECT)

    assert (changed.version, changed.description) == (2, "for extraction")
    assert secrets.values() == {"LLM_API_KEY": "b"}


def test_value_is_neither_listed_nor_represented(secrets: SecretStore) -> None:
    secrets.set({"LLM_API_KEY": "hush-hush"}, scope=PROJECT)

    (listed,) = secrets.list(PROJECT)

    assert "hush-hush" not in repr(listed) + str(listed.public())


def test_file_is_private_and_hidden_from_git(secrets: SecretStore, tmp_path: Path) -> None:
    secrets.set({"LLM_API_KEY": "a"}, scope=PROJECT)

    state = tmp_path / ".agentengine"
    assert stat.S_IMODE((state / "secrets.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert (state / ".gitignore").read_text() == "*\n"


def test_workspace_secrets_are_apart_and_not_given_to_the_server(secrets: SecretStore) -> None:
    secrets.set({"LLM_API_KEY": "a"}, scope=WORKSPACE)

    assert secrets.values() == {}
    assert [secret.name for secret in secrets.list(WORKSPACE)] == ["LLM_API_KEY"]


@pytest.mark.parametrize("name", ["A", "LLM_API_KEY", "A" * 128, "A1_"])
def test_name_is_accepted(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize(
    "name", ["", "a", "1A", "_A", "A-B", "A" * 129, "A\n", "Ä", "ORG_ID", "AGENTIC_PLATFORM_X"]
)
def test_name_is_refused_and_nothing_is_set(secrets: SecretStore, name: str) -> None:
    with pytest.raises(InvalidSecretName):
        secrets.set({"GOOD": "a", name: "b"}, scope=PROJECT)

    assert secrets.list(PROJECT) == []


def test_scope_is_full_at_its_limit(secrets: SecretStore) -> None:
    secrets.set({f"S{number}": "x" for number in range(LIMIT_PER_SCOPE)}, scope=PROJECT)

    with pytest.raises(ResourceLimitExceeded, match="RESOURCE_LIMIT_EXCEEDED"):
        secrets.set({"ONE_MORE": "x"}, scope=PROJECT)

    secrets.set({"S1": "changed"}, scope=PROJECT)
    assert len(secrets.list(PROJECT)) == LIMIT_PER_SCOPE


def test_deleting_what_is_not_there_is_an_error(secrets: SecretStore) -> None:
    secrets.set({"A": "x"}, scope=PROJECT)
    secrets.delete("A", scope=PROJECT)

    with pytest.raises(SecretNotFound, match="no secret named A"):
        secrets.delete("A", scope=PROJECT)


def test_damaged_file_is_refused_without_its_content(secrets: SecretStore, tmp_path: Path) -> None:
    secrets.set({"A": "x"}, scope=PROJECT)
    path = tmp_path / ".agentengine" / "secrets.json"
    path.write_text('{"project": {"A": {"value": "hush-hush"}}}')

    with pytest.raises(StateDamaged) as refused:
        secrets.values()

    assert "hush-hush" not in str(refused.value)
    assert refused.value.__cause__ is None
