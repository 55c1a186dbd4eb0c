import gzip
import zipfile
from pathlib import Path
from typing import Any

import pytest

from evaluation.datasets.errors import InvalidDataset, UnknownChoice
from evaluation.datasets.opening import open_dataset
from tests.evaluation.datasets.samples import (
    a_sample,
    an_item,
    an_own_conversation,
    an_own_question,
    written,
    written_lines,
)


@pytest.mark.parametrize(
    ("name", "content"),
    [("locomo", a_sample()), ("longmemeval", an_item()), ("own", an_own_conversation())],
)
def test_data_is_opened_by_name_and_path(tmp_path: Path, name: str, content: Any) -> None:
    dataset = open_dataset(name, written_lines(tmp_path / "data.jsonl", [content]))

    assert dataset.name == name
    assert len(list(dataset.conversations())) == 1


def test_reading_starts_anew_at_each_call(tmp_path: Path) -> None:
    for name, content in (
        ("locomo", [a_sample()]),
        ("longmemeval", [an_item()]),
        ("own", [an_own_conversation(), an_own_question()]),
    ):
        dataset = open_dataset(name, written_lines(tmp_path / f"{name}.jsonl", content))

        assert list(dataset.conversations()) == list(dataset.conversations())


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n",
            "Git LFS pointer.*lfs pull",
        ),
        (b"\n<!DOCTYPE html><html></html>", "web page.*download the file itself"),
        (b"PAR1\x00\x00", "Parquet"),
        (b"BZh91AY", "bunzip2"),
        (b"\xfd7zXZ\x00", "unxz"),
        (b"\x28\xb5\x2f\xfd\x00", "unzstd"),
        ('[{"a": 1}]'.encode("utf-16"), "UTF-16: save it as UTF-8"),
        (b" \n", "is empty: fetch it again"),
        (b"", "is empty: fetch it again"),
        (b"[]", "there is no"),
        (b'{"a": 1}', r"in no schema that is known: its first object has the fields a; \w+ has"),
    ],
)
@pytest.mark.parametrize("name", ["locomo", "longmemeval"])
def test_what_a_file_is_instead_is_told_with_the_fix(
    tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    path = tmp_path / "data.json"
    path.write_bytes(content)

    with pytest.raises(InvalidDataset, match=reason) as raised:
        open_dataset(name, path)

    assert str(path) in str(raised.value)


def test_a_zip_is_told_from_a_file_packed_with_gzip(tmp_path: Path) -> None:
    plain = written(tmp_path / "data.json", an_item())
    with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
        archive.write(plain)
    (tmp_path / "data.json.gz").write_bytes(gzip.compress(plain.read_bytes()))

    assert open_dataset("longmemeval", tmp_path / "data.json.gz").name == "longmemeval"
    with pytest.raises(InvalidDataset, match="zip archive: unpack it"):
        open_dataset("longmemeval", tmp_path / "data.zip")


@pytest.mark.parametrize(
    ("named", "content", "reason"),
    [
        ("locomo", an_item(), "schema of longmemeval, not of locomo: name longmemeval"),
        ("longmemeval", a_sample(), "schema of locomo, not of longmemeval: name locomo"),
        ("own", an_item(), "schema of longmemeval, not of own: name longmemeval"),
        ("longmemeval", an_own_question(), "schema of own, not of longmemeval: name own"),
        (
            "longmemeval",
            {"questions": ["a", "b"], "haystack_sessions": []},
            "several questions each.*evaluate-your-own-conversations.md",
        ),
    ],
)
def test_data_by_another_name_is_told_its_own(
    tmp_path: Path, named: str, content: Any, reason: str
) -> None:
    with pytest.raises(InvalidDataset, match=reason):
        open_dataset(named, written(tmp_path / "data.json", content))


def test_a_path_that_leads_nowhere_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidDataset, match="does not exist: mend the path"):
        open_dataset("locomo", tmp_path / "data.json")
    with pytest.raises(InvalidDataset, match="is a directory: name the file in it"):
        open_dataset("locomo", tmp_path)
    with pytest.raises(InvalidDataset, match=r"a directory without a .jsonl file"):
        open_dataset("own", tmp_path)


def test_a_choice_that_the_data_does_not_have_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "data.json", an_item())

    with pytest.raises(UnknownChoice, match="'squad'; there are locomo, longmemeval, own"):
        open_dataset("squad", path)
    with pytest.raises(UnknownChoice, match="An audit is of locomo"):
        open_dataset("longmemeval", path, audit=path)
    with pytest.raises(UnknownChoice, match="listed for longmemeval alone"):
        open_dataset("own", path, without_known_errors=True)
    with pytest.raises(UnknownChoice, match="limit is 0"):
        open_dataset("longmemeval", path, limit=0)


def test_an_audit_that_is_another_file_is_told(tmp_path: Path) -> None:
    path = written(tmp_path / "data.json", a_sample())

    with pytest.raises(InvalidDataset, match=r"errors.json does not exist"):
        open_dataset("locomo", path, audit=tmp_path / "errors.json")
