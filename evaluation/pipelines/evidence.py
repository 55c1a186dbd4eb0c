"""Which turns each memory of a user rests on."""

import asyncio
from collections.abc import Iterable, Sequence

from evaluation.pipelines.place import Place
from memory_server.client import MemoryDocument, MemoryServerClient

TYPES = ("semantic", "episodic", "taxonomic", "procedural")
"""The memory types that are extracted."""
LISTED = 1000
"""How many memories of a type are read at once, as many as a server lists."""


class Evidence:
    """The evidence of the memories of the user asked about last, each read once.

    One list of each type holds most of it; what a list leaves out is read when it is found.
    """

    def __init__(self, *, listed: int = LISTED) -> None:
        self._listed = listed
        self._user_id: str | None = None
        self._turns: dict[str, Sequence[str]] = {}

    async def read(
        self, client: MemoryServerClient, place: Place, memory_ids: Iterable[str]
    ) -> None:
        """Read what these memories of the user rest on, as far as that is not known."""
        if self._user_id != place.user_id:
            self._turns = await self._of_lists(client, place)
            self._user_id = place.user_id
        for memory_id in memory_ids:
            if memory_id not in self._turns:
                self._turns[memory_id] = _turns(await client.memory(memory_id), place)

    def of(self, memory_id: str) -> Sequence[str]:
        """Return the keys of the turns that a memory rests on; raises `KeyError` if not read."""
        return self._turns[memory_id]

    async def _of_lists(self, client: MemoryServerClient, place: Place) -> dict[str, Sequence[str]]:
        lists = await asyncio.gather(
            *(
                client.memories(user_id=place.user_id, type=kind, limit=self._listed)
                for kind in TYPES
            )
        )
        return {memory["id"]: _turns(memory, place) for memories in lists for memory in memories}


def _turns(memory: MemoryDocument, place: Place) -> Sequence[str]:
    keys = (
        place.turn(evidence["session_id"], turn["turn_seq"])
        for evidence in memory.get("evidence", ())
        for turn in evidence["turns"]
    )
    return list(dict.fromkeys(key for key in keys if key is not None))
