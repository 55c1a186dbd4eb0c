import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.datasets import json_items
from evaluation.datasets.errors import InvalidDataset
from evaluation.datasets.json_items import read_items

HARD = [
    {"text": 'a "quoted" \\ word', "number": -12.5e3, "none": None, "deep": [[{"x": [1, 2]}], {}]},
    {"text": "é 漢字 😀 \ud83d", "yes": True, "numbers": [0, 10, 123456789, 1.5, 1e-7]},
    {},
]
SPACED = json.dumps(HARD, indent=1)
PLAIN = json.dumps(HARD, ensure_ascii=True, separators=(",", ":"))
LINES = "\n".join(json.dumps(item) for item in HARD)
UNICODE = json.dumps([*HARD[:1], {"text": "é 漢字 😀"}], ensure_ascii=False)


def objects(path: Path, chunk: int = json_items.CHUNK) -> list[dict[str, Any]]:
    return [item for _, item in read_items(path, chunk=chunk)]


class CutOnce(io.BytesIO):
    """Gives its bytes in two parts, whatever is asked for."""

    def __init__(self, content: bytes, first: int) -> None:
        super().__init__(content)
        self._first = first

    def read(self, size: int | None = -1) -> bytes:
        first, self._first = self._first, 0
        return super().read(first or size)


@pytest.mark.parametrize(
    "text", [SPACED, PLAIN, LINES, UNICODE], ids=["spaced", "plain", "lines", "unicode"]
)
def test_an_item_may_be_cut_at_every_byte(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    content = text.encode()
    expected = json.loads(text) if text.startswith("[") else HARD
    for cut in range(1, len(content)):
        monkeypatch.setattr(json_items, "open_plain", lambda _, cut=cut: CutOnce(content, cut))

        assert objects(Path("data.json")) == expected, cut


@given(
    items=st.lists(
        st.dictionaries(
            st.text(max_size=4),
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
                lambda inner: (
                    st.lists(inner, max_size=3)
                    | st.dictionaries(st.text(max_size=3), inner, max_size=3)
                ),
                max_leaves=6,
            ),
            max_size=4,
        ),
        max_size=4,
    ),
    chunk=st.integers(min_value=1, max_value=40),
    indent=st.sampled_from([None, 0, 2]),
    is_ascii=st.booleans(),
)
def test_any_objects_are_read_in_chunks_of_any_size(
    tmp_path_factory: pytest.TempPathFactory,
    items: list[dict[str, Any]],
    chunk: int,
    indent: int | None,
    is_ascii: bool,
) -> None:
    path = tmp_path_factory.mktemp("items") / "data.json"
    text = json.dumps(items, indent=indent, ensure_ascii=is_ascii)
    path.write_bytes(text.encode())

    assert objects(path, chunk) == items


def test_a_packed_file_is_read_as_the_file_in_it(tmp_path: Path) -> None:
    path = tmp_path / "data.json.gz"
    path.write_bytes(gzip.compress(PLAIN.encode()))

    assert objects(path) == HARD


def test_no_more_is_held_than_an_item_and_a_chunk(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_text(json.dumps([{"n": number, "text": "x" * 100} for number in range(1000)]))

    with path.open("rb") as file:
        items = json_items._Items(path, file, 500)
        held = [len(items._buffer) for _ in items.read()]

    assert len(held) == 1000
    assert max(held) < 1000


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[{"a": 1}, 7]', r"object 2: it is a number and should be an object"),
        ('[{"a": 1} {"b": 2}]', r"object 1: no comma stands between"),
        ('[{"a": 1},]', r"object 1: a comma stands after the last object"),
        ('[{"a": 1}] x', r"object 1: something stands after the array's end"),
        ('[{"a": 1}', r"object 1: the file ends before the array does"),
        ('[{"a": 1}, {"b": "lon', r"object 2: the file ends in the middle of it"),
        ('[{"a": ', r"object 1: the file ends in the middle of it"),
        ('[{"a": tru', r"object 1: Expecting value \(line 1, column 7 of the object\)"),
        ('[{"a": nope}]', r"object 1: Expecting value \(line 1, column 7 of the object\)"),
        ('[{"a": nope, "b": "' + "x" * 99 + '"}]', r"object 1: Expecting value \(line 1, column 7"),
        ('{"a": 1}\n]', r"object 1: a \] stands where"),
    ],
)
def test_a_fault_is_told_with_the_number_of_the_object(
    tmp_path: Path, text: str, reason: str
) -> None:
    path = tmp_path / "data.json"
    path.write_text(text)

    with pytest.raises(InvalidDataset, match=reason):
        objects(path)


def test_a_malformed_object_is_refused_before_the_rest_is_read(tmp_path: Path) -> None:
    content = b'[{"a": nope}, ' + b'{"b": 1}, ' * 1000 + b"{}]"

    class Counted(io.BytesIO):
        given = 0

        def read(self, size: int | None = -1) -> bytes:
            part = super().read(size)
            Counted.given += len(part)
            return part

    with pytest.raises(InvalidDataset):
        next(json_items._Items(tmp_path, Counted(content), 64).read())

    assert Counted.given <= 256


def test_a_long_item_is_not_decoded_anew_for_each_chunk(tmp_path: Path) -> None:
    class Counted(io.BytesIO):
        reads = 0

        def read(self, size: int | None = -1) -> bytes:
            Counted.reads += 1
            return super().read(size)

    content = json.dumps([{"n": list(range(20_000))}]).encode()

    assert len(list(json_items._Items(tmp_path, Counted(content), 64).read())) == 1
    assert Counted.reads < 30


def test_text_that_is_not_utf_8_is_told_so(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_bytes('[{"a": "é"}]'.encode("latin-1"))

    with pytest.raises(InvalidDataset, match="not UTF-8"):
        objects(path)


def test_a_packed_file_that_was_cut_is_told_so(tmp_path: Path) -> None:
    path = tmp_path / "data.json.gz"
    path.write_bytes(gzip.compress(SPACED.encode())[:-20])

    with pytest.raises(InvalidDataset, match="cannot be unpacked"):
        objects(path)


def test_an_item_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_items, "LARGEST_ITEM", 1000)
    path = tmp_path / "data.json"
    path.write_text('[{"a": "' + "x" * 5000)

    with pytest.raises(InvalidDataset, match="longer than 1,000 characters"):
        objects(path, 100)
