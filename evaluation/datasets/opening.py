"""Data by name and path, and what a file is that is not what it was called."""

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from evaluation.conversations import Dataset
from evaluation.datasets.errors import InvalidDataset, UnknownChoice
from evaluation.datasets.json_items import read_items
from evaluation.datasets.locomo import open_locomo
from evaluation.datasets.longmemeval import open_longmemeval
from evaluation.datasets.own import open_own

NAMES: Final = ("locomo", "longmemeval", "own")

_HEAD: Final = 4096
"""Bytes at the start of a file by which it is told apart."""

_FOREIGN: Final[Sequence[tuple[bytes, str, str]]] = (
    (
        b"version https://git-lfs",
        "a Git LFS pointer, which stands for the file",
        "fetch the file itself: git lfs pull",
    ),
    (b"<", "a web page or XML", "download the file itself, not the page that shows it"),
    (b"PK\x03\x04", "a zip archive", "unpack it and name the JSON file in it"),
    (b"PAR1", "a Parquet file", "take the JSON file of the same data"),
    (b"BZh", "packed with bzip2", "unpack it: bunzip2 FILE"),
    (b"\xfd7zXZ", "packed with xz", "unpack it: unxz FILE"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd", "unpack it: unzstd FILE"),
    (b"\xff\xfe", "text in UTF-16", "save it as UTF-8"),
    (b"\xfe\xff", "text in UTF-16", "save it as UTF-8"),
)
"""How a file begins that is none of ours: what it is, and what to do."""

_SHAPES: Final[Mapping[str, frozenset[str]]] = {
    "locomo": frozenset({"sample_id", "conversation", "qa"}),
    "longmemeval": frozenset({"question_id", "question", "haystack_sessions"}),
    "own": frozenset({"conversation"}),
}
"""Fields by which the objects of each kind of data are known, most telling first."""


def open_dataset(
    name: str,
    path: Path,
    *,
    only: Sequence[str] = (),
    limit: int | None = None,
    audit: Path | None = None,
    without_known_errors: bool = False,
) -> Dataset:
    """Open data that is called by one of NAMES.

    `only` chooses: LoCoMo's and one's own conversations by name, LongMemEval's questions by id or
    type. `limit` is how many conversations, of the first. `audit` is a file of corrections
    (LoCoMo). Raises InvalidDataset naming the path, what it is instead, and the fix.
    """
    if name not in NAMES:
        raise UnknownChoice(f"No data is called {name!r}; there are {', '.join(NAMES)}")
    if limit is not None and limit < 1:
        raise UnknownChoice(f"limit is {limit} and should be at least 1")
    if audit and name != "locomo":
        raise UnknownChoice(f"An audit is of locomo; take it out, or name locomo instead of {name}")
    if without_known_errors and name != "longmemeval":
        raise UnknownChoice(f"Known errors are listed for longmemeval alone, not for {name}")
    _refuse_foreign(path, may_be_directory=name == "own")
    if audit:
        _refuse_foreign(audit)
    _refuse_another_shape(name, path)
    if name == "locomo":
        return open_locomo(path, only=only, limit=limit, audit=audit)
    if name == "longmemeval":
        return open_longmemeval(
            path, only=only, limit=limit, without_known_errors=without_known_errors
        )
    return open_own(path, only=only, limit=limit)


def _refuse_foreign(path: Path, *, may_be_directory: bool = False) -> None:
    if not path.exists():
        raise InvalidDataset(f"{path} does not exist: mend the path, or fetch the data to it")
    if path.is_dir():
        if not may_be_directory:
            raise InvalidDataset(f"{path} is a directory: name the file in it")
        if not any(path.glob("*.jsonl")):
            raise InvalidDataset(f"{path} is a directory without a .jsonl file: put one there")
        return
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if not head.strip():
        raise InvalidDataset(f"{path} is empty: fetch it again")
    for start, kind, fix in _FOREIGN:
        if head.lstrip().startswith(start):
            raise InvalidDataset(f"{path} is {kind}: {fix}")


def _refuse_another_shape(name: str, path: Path) -> None:
    """Tell whose schema the first object is in, where it is another's."""
    if path.is_dir():
        return
    first = _first_object(path)
    if first is None:
        return
    fields = frozenset(first)
    if fields >= {"questions", "haystack_sessions"}:
        raise InvalidDataset(
            f"{path} has LongMemEval histories with several questions each, which is nobody's "
            "published schema: write them as lines of your own data, one conversation and its "
            "questions (docs/howto/evaluate-your-own-conversations.md shows how)"
        )
    kind = next((kind for kind, known in _SHAPES.items() if fields >= known), None)
    if kind and kind != name:
        raise InvalidDataset(f"{path} is in the schema of {kind}, not of {name}: name {kind}")
    # What is wrong with a line of one's own data is told with all other faults of the file.
    if kind is None and name != "own":
        shown = ", ".join(sorted(fields)[:6]) or "none"
        wanted = ", ".join(sorted(_SHAPES[name]))
        raise InvalidDataset(
            f"{path} is in no schema that is known: its first object has the fields {shown}; "
            f"{name} has {wanted}"
        )


def _first_object(path: Path) -> Mapping[str, object] | None:
    """Return the first object; None where the data's own reader says better what is wrong."""
    try:
        return next((item for _, item in islice(read_items(path), 1)), None)
    except InvalidDataset:
        return None
