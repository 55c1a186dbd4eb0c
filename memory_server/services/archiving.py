"""Whole projects as files: out of this server, and into it."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime
from typing import IO

from memory_server.domain.archive import (
    KINDS,
    TURNS,
    ArchivedMemory,
    ArchivedTurn,
    Contents,
    End,
    Head,
    Item,
    Kind,
    Outcome,
    StoredVector,
    id_of,
)
from memory_server.domain.archive_lines import end_line, head_line, head_of, item_line, item_of
from memory_server.domain.memory import MemoryType
from memory_server.errors import InvalidArchive, InvalidRequest, VectorsOfAnotherSpace
from memory_server.ports.archive import Reading
from memory_server.ports.clock import Clock
from memory_server.ports.embedder import Embedder
from memory_server.ports.store import Store

MOST_CONFLICTS = 20
"""How many conflicts one answer names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenIn:
    """What became of a portion of an archive."""

    counts: Mapping[Outcome, Mapping[Kind, int]]
    conflicts: Sequence[str]
    """Kind and id of the first ones."""


class Export:
    """An archive that is being written; whoever began it closes it."""

    def __init__(self, contents: Contents, reading: Reading, moment: datetime) -> None:
        self._reading = reading
        self._head = Head(
            project_id=contents.project_id,
            exported_at=moment,
            spaces=reading.spaces,
            user_id=contents.user_id,
            types=None if contents.types is None else sorted(contents.types),
        )

    async def lines(self) -> AsyncGenerator[bytes]:
        """Yield its lines, some at a time."""
        digest, counts = hashlib.sha256(), Counter[Kind]()
        yield _digested(digest, head_line(self._head))
        async with aclosing(self._reading.portions()) as portions:
            async for portion in portions:
                counts.update(KINDS[type(item)] for item in portion)
                yield _digested(digest, await asyncio.to_thread(_written, portion))
        told = {kind.value: counts[kind] for kind in Kind}
        yield end_line(End(counts=told, digest=digest.hexdigest()))

    async def close(self) -> None:
        """Let the moment go that it is of."""
        await self._reading.close()


class Archiving:
    """Writes archives of projects, and takes them in."""

    def __init__(
        self, *, store: Store, embedder: Embedder, clock: Clock, declared: Sequence[str]
    ) -> None:
        """Join it; `declared` are the names of the project's own types of memory."""
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._types = [TURNS, *(kind.value for kind in MemoryType), *declared]

    async def export(self, contents: Contents) -> "Export":
        """Begin an archive of what a project holds now.

        Raises `InvalidRequest` naming a type there is not, before anything is read.
        """
        unknown = sorted((contents.types or frozenset()) - set(self._types))
        if unknown:
            raise InvalidRequest(
                f"type: {unknown[0]!r} is none of {', '.join(self._types)}; name one or more"
            )
        moment = self._clock.now()
        return Export(contents, await self._store.archive.begin(contents), moment)

    async def take_in(
        self,
        project_id: str,
        portion: bytes,
        *,
        first_line: int = 2,
        with_vectors: bool = True,
        restore_erased: bool = False,
        dry_run: bool = False,
    ) -> TakenIn:
        """Take in a portion of an archive: its first line, and some of its items.

        All of the portion or nothing; again: nothing new. `first_line` is the number that the
        first item has in the file. With `dry_run` nothing is stored. Raises
        `InvalidArchive`, `ArchiveTooNew`, and `VectorsOfAnotherSpace` unless the vectors are left
        out.
        """
        items = await asyncio.to_thread(_items, portion, project_id, first_line)
        if with_vectors:
            self._check_spaces(items, first_line)
        else:
            items = [_without_vectors(item) for item in items]
        outcomes = await self._store.archive.write(
            project_id, items, restore_erased=restore_erased, dry_run=dry_run
        )
        return _told(items, outcomes)

    async def copy(self) -> IO[bytes]:
        """Return a consistent copy of the whole store as a file, or raise `NoBackup`."""
        return await self._store.copy()

    def _check_spaces(self, items: Sequence[Item], first_line: int) -> None:
        mine, dimension = self._embedder.space.name, self._embedder.space.dimension
        theirs = {vector.space for item in items for vector in _vectors_of(item)}
        if theirs - {mine}:
            raise VectorsOfAnotherSpace(
                f"the archive's vectors are of {', '.join(sorted(theirs - {mine}))}, and this "
                f"server's of {mine}: import it without vectors, and they are made anew"
            )
        for number, item in enumerate(items, first_line):
            if any(vector.dimension != dimension for vector in _vectors_of(item)):
                raise InvalidArchive(
                    f"line {number}: vectors: one has not the {dimension} numbers of {mine}"
                )


def _digested(digest: "hashlib._Hash", lines: bytes) -> bytes:
    digest.update(lines)
    return lines


def _written(items: Sequence[Item]) -> bytes:
    return b"".join(item_line(item) for item in items)


def _items(portion: bytes, project_id: str, first_line: int) -> Sequence[Item]:
    head, *lines = portion.splitlines() or [b""]
    head_of(head)
    if not lines:
        raise InvalidArchive("line 1: no items follow it")
    return [
        item_of(line, project_id=project_id, where=f"line {number}")
        for number, line in enumerate(lines, first_line)
    ]


def _vectors_of(item: Item) -> Sequence[StoredVector]:
    return item.vectors if isinstance(item, ArchivedMemory | ArchivedTurn) else ()


def _without_vectors(item: Item) -> Item:
    return replace(item, vectors=()) if isinstance(item, ArchivedMemory | ArchivedTurn) else item


def _told(items: Sequence[Item], outcomes: Sequence[Outcome]) -> TakenIn:
    counts: dict[Outcome, Counter[Kind]] = {outcome: Counter() for outcome in Outcome}
    conflicts = []
    for item, outcome in zip(items, outcomes, strict=True):
        kind = KINDS[type(item)]
        counts[outcome][kind] += 1
        if outcome is Outcome.CONFLICT:
            conflicts.append(f"{kind.value} {id_of(item)}")
    return TakenIn(counts=counts, conflicts=conflicts[:MOST_CONFLICTS])
