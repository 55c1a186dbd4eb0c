import os
from pathlib import Path

import pytest

from memory_server.errors import InvalidProjectConfig
from memory_server.providers.owner_token import SHORTEST, read_or_make


def test_token_is_made_once_and_kept(tmp_path: Path) -> None:
    file = tmp_path / "data" / "owner-token"

    token = read_or_make(file)

    assert len(token) > 2 * SHORTEST
    assert read_or_make(file) == token
    assert os.listdir(file.parent) == ["owner-token"]  # noqa: PTH208 hidden files count too
    assert file.stat().st_mode & 0o777 == 0o600


def test_given_token_is_read_without_its_line_end(tmp_path: Path) -> None:
    file = tmp_path / "owner-token"
    file.write_text("x" * SHORTEST + "\n")

    assert read_or_make(file) == "x" * SHORTEST


@pytest.mark.parametrize("text", ["", "\n", "x" * (SHORTEST - 1)])
def test_token_that_could_be_guessed_is_refused_by_file(tmp_path: Path, text: str) -> None:
    file = tmp_path / "owner-token"
    file.write_text(text)

    with pytest.raises(InvalidProjectConfig, match=f"{file} holds .* owner token"):
        read_or_make(file)


def test_refusal_does_not_tell_the_token(tmp_path: Path) -> None:
    file = tmp_path / "owner-token"
    file.write_text("hunter2")

    with pytest.raises(InvalidProjectConfig) as refused:
        read_or_make(file)

    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("content", [b"\xff" * 40, None])
def test_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "owner-token"
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content)

    with pytest.raises(InvalidProjectConfig, match=f"owner token in {file} cannot be read"):
        read_or_make(file)


def test_token_of_a_faster_process_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "owner-token"
    file.write_text("the-token-of-a-faster-process")
    monkeypatch.setattr(Path, "exists", lambda _: False)

    assert read_or_make(file) == "the-token-of-a-faster-process"
