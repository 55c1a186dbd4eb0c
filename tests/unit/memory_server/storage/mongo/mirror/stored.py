"""A database that tests hold in their hands: what is stored, and when it is read."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from memory_server.domain.turn import Turn
from memory_server.errors import MemoryServerError
from memory_server.search.local.entries import memory_entry, turn_entry
from memory_server.storage.mongo.collections import TURNS
from memory_server.storage.mongo.documents import Document
from memory_server.storage.mongo.mirror.marks import Key
from memory_server.storage.mongo.mirror.source import Entry, Source
from tests.factories import PROJECT, a_fact, a_memory

FACTS = "memory_semantic"


class Stored(Source):
    """Answers with what is stored when it is asked; the answer arrives when `gate` is open."""

    collections: Sequence[str] = (TURNS, FACTS)

    def __init__(self) -> None:
        self.entries: dict[Key, Entry] = {}
        self.gate = asyncio.Event()
        self.gate.set()
        self.failures: list[MemoryServerError] = []
        self.read = 0
        self.page_size = 10**6
        self._shown: dict[Key, Entry] = {}

    def keep(self, key: Key, text: str) -> None:
        """Store a fact, or its next state."""
        document = memory_entry(a_memory(id=key.id, body=a_fact(text=text)))
        self.entries[key] = Entry(document=document)

    def keep_turn(self, turn: Turn) -> Key:
        """Store a turn as it is now."""
        key = Key(TURNS, turn.project_id, turn.id)
        self.entries[key] = Entry(
            document=turn_entry(turn, turn.turn_seq), promoted=turn.snapshot_id is not None
        )
        return key

    async def fetch(self, keys: Iterable[Key]) -> Mapping[Key, Document]:
        return await self._answer({key: {"e": self.entries[key]} for key in keys if self._has(key)})

    async def page(
        self, collection: str, *, after: Key | None, limit: int
    ) -> Mapping[Key, Document]:
        if after is None:  # all pages show what was stored when the first one was asked for
            self._shown = dict(self.entries)
        keys = sorted(key for key in self._shown if key.collection == collection)
        later = [key for key in keys if after is None or key > after][: min(limit, self.page_size)]
        return await self._answer({key: {"e": self._shown[key]} for key in later})

    async def existing(self, keys: Iterable[Key]) -> Collection[Key]:
        return (await self._answer({key: {} for key in keys if self._has(key)})).keys()

    async def size(self) -> int:
        return len(self.entries)

    def entry(self, key: Key, document: Document) -> Entry:
        entry = document["e"]
        assert isinstance(entry, Entry)
        return entry

    def _has(self, key: Key) -> bool:
        return key in self.entries

    async def _answer(self, found: Mapping[Key, Document]) -> Mapping[Key, Document]:
        self.read += len(found)
        await self.gate.wait()
        if self.failures:
            raise self.failures.pop()
        return found


async def until(condition: Callable[[], object]) -> None:
    """Let others go on until a condition holds."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 nothing tells of these conditions
            await asyncio.sleep(0)


def fact(number: int) -> Key:
    """Name a fact."""
    return Key(FACTS, PROJECT, f"m{number}")
