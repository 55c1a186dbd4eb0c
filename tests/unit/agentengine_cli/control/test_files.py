import os
import stat
from pathlib import Path

import pytest

from agentengine_cli.control.files import (
    StateDamaged,
    StateUnwritable,
    read_json,
    write_atomically,
    write_json,
)


def test_what_is_written_is_read_and_private(tmp_path: Path) -> None:
    path = tmp_path / "state.json"

    write_json(path, {"name": "é"})

    assert read_json(path) == {"name": "é"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_missing_file_is_nothing(tmp_path: Path) -> None:
    assert read_json(tmp_path / "state.json") is None


@pytest.mark.parametrize("content", ["", "{", "[]", "\xff"])
def test_damaged_file_is_told_with_the_way_out(tmp_path: Path, content: str) -> None:
    path = tmp_path / "state.json"
    path.write_bytes(content.encode("latin-1"))

    with pytest.raises(StateDamaged, match=r"state\.json") as refused:
        read_json(path)

    assert f"Delete {path}" in str(refused.value.hint)


def test_failed_write_leaves_the_old_content_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state.json"
    write_atomically(path, "old")
    monkeypatch.setattr(os, "fsync", _disk_is_full)

    with pytest.raises(StateUnwritable, match="No space left on device"):
        write_atomically(path, "new")

    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_directory_that_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(StateUnwritable, match="What was stored before is unchanged"):
        write_atomically(tmp_path / "nowhere" / "state.json", "new")


def _disk_is_full(_: int) -> None:
    raise OSError(28, "No space left on device")
