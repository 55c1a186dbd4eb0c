"""Configuration and secrets on a real disk."""

import stat
from pathlib import Path

import pytest

from memory_server.domain.deployment import AppliedConfig, Secret, StoredConfig
from memory_server.errors import StorageCorrupt, StorageError
from memory_server.storage.files import DeploymentDirectory
from memory_server.storage.files.documents import write
from tests.clock import START

STORED = StoredConfig(document={"log_level": "debug", "x": None}, digest="d", at=START)
APPLIED = AppliedConfig(document={}, digest="e", at=START, local_models=True)
SECRET = Secret(
    name="LLM_API_KEY",
    value="tell-nobody",
    description="ø",
    version=3,
    created_at=START,
    updated_at=START,
)


@pytest.fixture
def files(tmp_path: Path) -> DeploymentDirectory:
    return DeploymentDirectory(tmp_path / "data")


async def test_nothing_is_kept_in_a_fresh_directory(files: DeploymentDirectory) -> None:
    assert (await files.stored(), await files.applied(), await files.secrets()) == (None, None, {})


async def test_what_was_kept_is_read_as_it_was(files: DeploymentDirectory) -> None:
    await files.store(STORED)
    await files.note_applied(APPLIED, by="a")
    await files.keep_secrets({"LLM_API_KEY": SECRET})

    assert (await files.stored(), await files.applied()) == (STORED, APPLIED)
    assert await files.secrets() == {"LLM_API_KEY": SECRET}


async def test_every_file_is_closed_to_others(files: DeploymentDirectory, tmp_path: Path) -> None:
    await files.store(STORED)
    await files.keep_secrets({"LLM_API_KEY": SECRET})

    kept = list((tmp_path / "data").iterdir())
    assert len(kept) == 2
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o600}


async def test_a_draft_left_by_a_killed_process_is_in_nobodys_way(
    files: DeploymentDirectory, tmp_path: Path
) -> None:
    await files.keep_secrets({"LLM_API_KEY": SECRET})
    (tmp_path / "data" / ".secrets.json.draft").write_text('{"half": ')

    assert await files.secrets() == {"LLM_API_KEY": SECRET}
    await files.keep_secrets({})
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["secrets.json"]


@pytest.mark.parametrize(
    "content", ['{"LLM_API_KEY": {"value": "tell-nobody"', '{"A": "tell-nobody"}', "[]", ""]
)
async def test_a_damaged_file_is_named_and_its_content_is_not_said(
    files: DeploymentDirectory, tmp_path: Path, content: str
) -> None:
    await files.keep_secrets({})
    (tmp_path / "data" / "secrets.json").write_text(content)

    with pytest.raises(StorageCorrupt, match=r"secrets\.json") as raised:
        await files.secrets()

    assert "tell-nobody" not in str(raised.value)
    assert raised.value.__cause__ is None


def test_what_cannot_be_written_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.json"
    write(path, {"a": 1})
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "no space")))

    with pytest.raises(StorageError, match="unchanged"):
        write(path, {"a": 2})

    assert path.read_text() == '{\n  "a": 1\n}\n'
    assert [found.name for found in tmp_path.iterdir()] == ["x.json"]
