"""Objects of a JSON file one at a time, however large: an array of them, or one a line."""

import codecs
import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final, cast

from evaluation.datasets.checking import kind_of
from evaluation.datasets.errors import InvalidDataset

CHUNK: Final = 1 << 20
"""Bytes read at once."""
LARGEST_ITEM: Final = 1 << 28
"""Characters of one object, after which it is taken for a fault: real ones are of 10 million."""

_GZIP: Final = b"\x1f\x8b"
_SPACE: Final = " \t\r\n"
_SPLIT_TOKEN: Final = 16
"""Characters at the end of a buffer in which a fault may be a token that goes on in the next."""


def read_items(path: Path, *, chunk: int = CHUNK) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read each object with its number, from 1; holds one object and what was read after it.

    Raises InvalidDataset with the number of the object and the fault's place.
    """
    with open_plain(path) as file:
        yield from _Items(path, file, chunk).read()


def open_plain(path: Path) -> IO[bytes]:
    """Open a file for reading, unpacked where it is packed with gzip."""
    with path.open("rb") as file:
        is_packed = file.read(len(_GZIP)) == _GZIP
    return cast(IO[bytes], gzip.open(path)) if is_packed else path.open("rb")


class _Items:
    """Where a reading of one file stands."""

    def __init__(self, path: Path, file: IO[bytes], chunk: int) -> None:
        self._path = path
        self._file = file
        self._chunk = chunk
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._json = json.JSONDecoder()
        self._buffer = ""
        self._number = 0
        self._usual = 0
        self._has_ended = False

    def read(self) -> Iterator[tuple[int, dict[str, Any]]]:
        is_array = self._next_character() == "["
        if is_array:
            self._drop(1)
        while (character := self._next_character()) and character != "]":
            self._number += 1
            yield self._number, self._item()
            self._skip_comma(is_array=is_array)
        if is_array:
            self._close_array(character)
        elif character:
            raise self._fault("a ] stands where an object should begin")

    def _item(self) -> dict[str, Any]:
        # To decode what is cut is in vain: as much is read first as the item before had.
        if len(self._buffer) < self._usual:
            self._fill(self._usual)
        while True:
            try:
                item, end = self._json.raw_decode(self._buffer)
            except json.JSONDecodeError as error:
                self._read_on_or_fail(error)
                continue
            if not isinstance(item, dict):
                raise self._fault(f"it is {kind_of(item)} and should be an object, {{...}}")
            self._drop(end)
            self._usual = end
            return item

    def _read_on_or_fail(self, error: json.JSONDecodeError) -> None:
        is_in_text = error.msg.startswith("Unterminated string")
        if self._has_ended and (is_in_text or error.pos >= len(self._buffer.rstrip())):
            raise self._fault("the file ends in the middle of it; was it copied whole?") from None
        is_cut = is_in_text or error.pos >= len(self._buffer) - _SPLIT_TOKEN
        if not is_cut or self._has_ended:
            raise self._fault(
                f"{error.msg} (line {error.lineno}, column {error.colno} of the object)"
            ) from None
        if len(self._buffer) > LARGEST_ITEM:
            raise self._fault(f"it is longer than {LARGEST_ITEM:,} characters")
        # As much again as there is: to decode anew after each chunk would be quadratic.
        self._fill(max(self._chunk, len(self._buffer)))

    def _skip_comma(self, *, is_array: bool) -> None:
        character = self._next_character()
        if not is_array:
            return
        if character == ",":
            self._drop(1)
            if self._next_character() == "]":
                raise self._fault("a comma stands after the last object: take it out")
        elif character and character != "]":
            raise self._fault("no comma stands between it and the next object")

    def _close_array(self, character: str) -> None:
        if character != "]":
            raise self._fault("the file ends before the array does; was it copied whole?")
        self._drop(1)
        if self._next_character():
            raise self._fault("something stands after the array's end: take it out")

    def _next_character(self) -> str:
        """Return the next character that is no space, or nothing at the end."""
        while True:
            self._buffer = self._buffer.lstrip(_SPACE)
            if self._buffer or self._has_ended:
                return self._buffer[:1]
            self._fill(self._chunk)

    def _drop(self, length: int) -> None:
        self._buffer = self._buffer[length:]

    def _fill(self, size: int) -> None:
        try:
            read = self._file.read(size)
            self._buffer += self._decoder.decode(read, final=not read)
        except UnicodeDecodeError as error:
            raise self._fault(f"it is not UTF-8 ({error.reason}): save the file as UTF-8") from None
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise self._fault(f"it cannot be unpacked ({error}); was it copied whole?") from None
        self._has_ended = not read

    def _fault(self, reason: str) -> InvalidDataset:
        where = f"object {self._number}" if self._number else "before the first object"
        return InvalidDataset(f"{self._path}: {where}: {reason}")
