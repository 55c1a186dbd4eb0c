"""Archives of older programs are read, those of newer ones refused by their version."""

import hashlib
import io
import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from memory_server.client import check
from memory_server.client.archive_file import END
from memory_server.domain.archive import ITEM_TYPES, VERSION, ArchivedMemory, End, Head
from memory_server.domain.archive_lines import head_line, head_of, item_of, kind_of
from memory_server.domain.memory import BODY_TYPES
from memory_server.errors import ArchiveTooNew, InvalidArchive
from tests.clock import START

OLD = Path(__file__).parent / "archive_of_version_1.jsonl"
"""What a server wrote before there were proposals, and speakers of evidence."""
SHAPES = {2: "4923cb20aacb79bd"}
"""By version of the format, a digest of the names of all that an archive of it may hold."""


def test_an_archive_of_an_older_version_is_read() -> None:
    head, *lines = OLD.read_bytes().splitlines()

    assert json.loads(head)["version"] == 1
    assert head_of(head).version == 1
    assert check(io.BytesIO(OLD.read_bytes())).items == len(lines) - 1
    items = [
        item_of(line, project_id="shop", where="here")
        for line in lines
        if kind_of(line, "here") != END
    ]
    memories = [item.memory for item in items if isinstance(item, ArchivedMemory)]
    assert len(memories) == 4
    assert all(evidence.speakers == () for one in memories for evidence in one.evidence)


def test_an_archive_of_a_newer_version_is_refused_with_both_versions() -> None:
    head = Head(project_id="shop", exported_at=START, version=VERSION + 1)
    line = head_line(head).replace(b'"spaces"', b'"what_is_not_known_here"')

    with pytest.raises(ArchiveTooNew) as raised:
        head_of(line)

    assert f"version {VERSION + 1} of the format" in str(raised.value)
    assert f"reads versions 1 to {VERSION}" in str(raised.value)


@pytest.mark.parametrize("version", ["2", 0, -1, None, True, 1.0])
def test_what_is_no_version_is_told(version: Any) -> None:
    document = json.loads(head_line(Head(project_id="shop", exported_at=START)))
    line = json.dumps(document | {"version": version}).encode()

    with pytest.raises(InvalidArchive, match="is no version of the format"):
        head_of(line)


def test_the_version_grows_with_what_an_archive_may_hold() -> None:
    names = json.dumps(sorted(set(_members())))
    shape = hashlib.sha256(names.encode()).hexdigest()[:16]

    assert SHAPES.get(VERSION) == shape, (
        f"an archive of version {VERSION} held other members: raise VERSION in "
        f"memory_server/domain/archive.py, and note the new shape {shape!r} here"
    )


def _members() -> Iterator[tuple[str, str]]:
    """Yield every class of an archive with each of its members."""
    waiting: list[Any] = [Head, End, *ITEM_TYPES.values(), *BODY_TYPES.values()]
    seen: set[Any] = set()
    while waiting:
        hint = waiting.pop()
        waiting += get_args(hint)
        if not is_dataclass(hint) or hint in seen:
            continue
        seen.add(hint)
        hints = get_type_hints(hint)
        for one in fields(hint):
            yield getattr(hint, "__name__", ""), one.name
            waiting.append(hints[one.name])
