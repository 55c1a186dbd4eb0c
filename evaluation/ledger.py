"""A stage's file: one record a line, each under a key, added to as the work goes on.

A process that is killed leaves whole lines, and at most the beginning of one more, which is taken
off when the file is opened the next time: its work is done again.
"""

import json
import os
from collections.abc import Callable, Hashable, Iterator, Mapping
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import ValidationError

from evaluation.errors import RecordsDamaged
from evaluation.records import Record

R = TypeVar("R", bound=Record)

NEW_SUFFIX = ".new"


class Ledger(Generic[R]):
    """The records of one stage in a directory, the newest of each key."""

    def __init__(
        self,
        path: Path,
        kind: type[R],
        *,
        key: Callable[[R], Hashable],
        told: Callable[[str], None],
    ) -> None:
        """Read what is there; `told` hears of a line that was not written to its end.

        Raises `RecordsDamaged` for a line that is no such record.
        """
        self.path = path
        self._kind = kind
        self._key = key
        self._drop_torn_line(told)
        self._records = {key(record): record for record in self._read()}

    def __contains__(self, key: Hashable) -> bool:
        return key in self._records

    def __iter__(self) -> Iterator[R]:
        return iter(self._records.values())

    def get(self, key: Hashable) -> R | None:
        """Return the record of a key."""
        return self._records.get(key)

    def append(self, record: R) -> None:
        """Write a record; when this returns, the death of the process does not lose it."""
        with self.path.open("ab") as file:
            file.write(_line(record))
        self._records[self._key(record)] = record

    def replace(self, records: Mapping[Hashable, R]) -> None:
        """Write these records in place of all there are, all or nothing."""
        write_whole(self.path, b"".join(_line(record) for record in records.values()))
        self._records = dict(records)

    def forget(self, is_meant: Callable[[R], bool]) -> int:
        """Take out the records that are meant, and return how many there were."""
        kept = {key: record for key, record in self._records.items() if not is_meant(record)}
        gone = len(self._records) - len(kept)
        if gone:
            self.replace(kept)
        return gone

    def _drop_torn_line(self, told: Callable[[str], None]) -> None:
        if not self.path.exists():
            return
        with self.path.open("r+b") as file:
            content = file.read()
            whole = content.rfind(b"\n") + 1
            if whole < len(content):
                file.truncate(whole)
                told(f"{self.path}: the last line was not written to its end, and is done again")

    def _read(self) -> Iterator[R]:
        if not self.path.exists():
            return
        with self.path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    yield self._kind.model_validate_json(line)
                except ValidationError as error:
                    first = error.errors(include_input=False, include_url=False)[0]
                    field = ".".join(map(str, first["loc"])) or "it"
                    raise RecordsDamaged(
                        f"{self.path}, line {number}: {field}: {first['msg']}. Take the line out "
                        "to have its work done again, or choose another directory"
                    ) from error


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file's content, all or nothing."""
    new = path.with_name(path.name + NEW_SUFFIX)
    with new.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def _line(record: Record) -> bytes:
    document = record.model_dump(mode="json")
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
