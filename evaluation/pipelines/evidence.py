"""Which turns each memory of a user rests on."""

import asyncio
from collections.abc import Mapping, Sequence

from evaluation.errors import NotThere
from evaluation.pipelines.place import Place
from memory_server.client import MemoryDocument, MemoryServerClient

TYPES = ("semantic", "episodic", "taxonomic", "procedural")
"""The memory types that are extracted."""
MOST_LISTED = 1000
"""How many memories a server lists at once."""


class Evidence:
    """The evidence of the memories of the user asked about last, read once."""

    def __init__(self) -> None:
        self._user_id: str | None = None
        self._turns: Mapping[str, Sequence[str]] = {}

    async def read(self, client: MemoryServerClient, place: Place) -> None:
        """Read what the user's memories rest on, unless that is known.

        Raises `NotThere` where there are more than one list holds: what a list leaves out would
        count as resting on nothing.
        """
        if self._user_id == place.user_id:
            return
        listed = await asyncio.gather(
            *(client.memories(user_id=place.user_id, type=kind) for kind in TYPES)
        )
        for kind, memories in zip(TYPES, listed, strict=True):
            if len(memories) >= MOST_LISTED:
                raise NotThere(
                    f"a conversation has {MOST_LISTED} {kind} memories or more, and the server "
                    "lists no more of a user: their evidence cannot be read whole. Measure it by "
                    "turns or blocks, or shorter conversations"
                )
        self._turns = {
            memory["id"]: _turns(memory, place) for memories in listed for memory in memories
        }
        self._user_id = place.user_id

    def of(self, memory_id: str) -> Sequence[str]:
        """Return the keys of the turns that a memory rests on; none where that is not known."""
        return self._turns.get(memory_id, ())


def _turns(memory: MemoryDocument, place: Place) -> Sequence[str]:
    keys = (
        place.turn(evidence["session_id"], turn["turn_seq"])
        for evidence in memory.get("evidence", ())
        for turn in evidence["turns"]
    )
    return list(dict.fromkeys(key for key in keys if key is not None))
