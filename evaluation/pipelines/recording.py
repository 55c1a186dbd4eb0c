"""Turns sent in their order, each once however often it is tried."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from evaluation.conversations import Turn
from evaluation.errors import StoredDifferently
from evaluation.pipelines.pipeline import Timing
from evaluation.pipelines.place import Place
from evaluation.pipelines.stopwatch import timed
from memory_server.client import MemoryServerClient
from memory_server.errors import Overloaded, RateLimited

PATIENCE = 60
"""How often a server that has too much to do is asked again."""
PAUSE_SECONDS = 1.0

T = TypeVar("T")


async def record(
    client: MemoryServerClient, place: Place, timing: Timing, *, advance: Callable[[], None]
) -> int:
    """Record every turn of a conversation, and return how many there are.

    Session by session, since what is learned may depend on what was known before. Raises
    `StoredDifferently` where a session holds turns that are not of this conversation.
    """
    count = 0
    for session_id, turns in place.sessions.items():
        for number, turn in enumerate(turns, start=1):
            receipt = await patiently(
                lambda turn=turn, number=number, session_id=session_id: timed(  # type: ignore[misc]
                    timing, "record", _sent(client, place, session_id, number, turn)
                )
            )
            if receipt["turn_seq"] != number:
                raise StoredDifferently(
                    f"turn {number} of a session was stored as turn {receipt['turn_seq']}: "
                    "somebody else wrote to it, or some of it was removed"
                )
            advance()
            count += 1
    return count


async def patiently(call: Callable[[], Awaitable[T]]) -> T:
    """Return what a call returns, asked again while the server has too much to do."""
    for _ in range(PATIENCE):
        try:
            return await call()
        except (RateLimited, Overloaded):
            await asyncio.sleep(PAUSE_SECONDS)
    return await call()


def metadata_of(turn: Turn) -> dict[str, Any]:
    """Return what is recorded beside the text: who spoke, and when."""
    metadata: dict[str, Any] = {}
    if turn.speaker != turn.role:
        metadata["speaker"] = turn.speaker
    if turn.said_at is not None:
        metadata["timestamp"] = turn.said_at.isoformat()
    return metadata


async def _sent(
    client: MemoryServerClient, place: Place, session_id: str, number: int, turn: Turn
) -> Any:
    return await client.record_turn(
        session_id=session_id,
        user_id=place.user_id,
        role=turn.role,
        content=turn.text,
        idempotency_key=str(number),
        metadata=metadata_of(turn) or None,
    )
