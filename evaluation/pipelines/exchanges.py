"""Exchanges sent in their order, one a call, as an agent would after each reply."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from evaluation.conversations import Turn
from evaluation.errors import StoredDifferently
from evaluation.exchanges import exchanges_of
from evaluation.pipelines.pipeline import Timing
from evaluation.pipelines.place import Place
from evaluation.pipelines.recording import metadata_of, patiently
from evaluation.pipelines.stopwatch import timed
from memory_server.client import MemoryServerClient

NumberedTurn = tuple[int, Turn]


async def record_exchanges(
    client: MemoryServerClient, place: Place, timing: Timing, *, advance: Callable[[], None]
) -> Mapping[str, int]:
    """Store every exchange of a conversation as blocks, and return how many of each there are.

    Raises `StoredDifferently` where the server pairs other messages than these.
    """
    exchanges = blocks = 0
    for session_id, turns in place.sessions.items():
        for exchange in _exchanges(turns):
            stored = await patiently(
                lambda exchange=exchange, session_id=session_id: timed(  # type: ignore[misc]
                    timing, "record", _sent(client, place, session_id, exchange)
                )
            )
            _check(stored["exchanges"], exchange)
            for stage, spent in stored["timing"].items():
                timing.setdefault(stage, []).append(spent)
            exchanges += 1
            blocks += sum(len(one["blocks"]) for one in stored["exchanges"])
            for _ in exchange:
                advance()
    return {"exchanges": exchanges, "blocks": blocks}


def turns_of_block(block: Mapping[str, Any], place: Place) -> Sequence[str]:
    """Return the keys of the turns that a block holds."""
    session = str(block["conversation_id"])
    found = (place.turn(session, int(said["id"])) for said in block["messages"])
    return [key for key in found if key is not None]


def _exchanges(turns: Sequence[Turn]) -> Iterator[Sequence[NumberedTurn]]:
    """Yield the exchanges of a session, each turn with its number in it."""
    names = exchanges_of(turns)
    numbered = enumerate(turns, start=1)
    for _, exchange in groupby(numbered, key=lambda pair: names[pair[1].key]):
        yield list(exchange)


async def _sent(
    client: MemoryServerClient,
    place: Place,
    session_id: str,
    exchange: Sequence[NumberedTurn],
) -> Any:
    return await client.blocks.record(
        [
            {
                "id": str(number),
                "role": turn.role,
                "content": turn.text,
                "metadata": metadata_of(turn),
            }
            for number, turn in exchange
        ],
        conversation_id=session_id,
        user_id=place.user_id,
        idempotency_key=str(exchange[0][0]),
    )


def _check(stored: Sequence[Mapping[str, Any]], exchange: Sequence[NumberedTurn]) -> None:
    there = [list(one["message_ids"]) for one in stored]
    sent = [[str(number) for number, _ in exchange]]
    if there != sent:
        raise StoredDifferently(
            f"an exchange of {len(exchange)} messages was stored as {len(stored)}, or as others: "
            "the memory is of another version, or somebody else wrote to it"
        )
