"""Sending the turns of a file: each session in order, several sessions at once."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from agentengine_cli.turn_file import NumberedTurn, Places, Plan, TurnFile
from memory_server.errors import Forbidden, MemoryServerError, RateLimited, StorageError


class Recorder(Protocol):
    """Where turns go."""

    async def __call__(self, turn: NumberedTurn) -> bool | None:
        """Record a turn; return whether the server had it already, or None if it does not say."""
        ...


@dataclass(slots=True)
class Tally:
    """How far an import came."""

    sent: int = 0
    """Turns the server has acknowledged."""
    skipped: int | None = 0
    """Of these, the ones it had already; None: it does not say."""
    refused: list[tuple[int, Exception]] = field(default_factory=list)
    """Lines the server refused, each of which ended its session."""
    stopped_by: Exception | None = None
    """What ended everything: the other turns would have met the same."""

    def __str__(self) -> str:
        """Say how many of the acknowledged turns are new, where the server tells."""
        if self.skipped is None:
            return ""
        return f"{self.sent - self.skipped} new, {self.skipped} already there"


async def send(
    file: TurnFile,
    plan: Plan,
    record: Recorder,
    *,
    concurrency: int,
    tally: Tally,
    advance: Callable[[], None],
) -> None:
    """Record every turn of a checked file and count in `tally`."""
    sessions = iter(plan.sessions.items())
    workers = (
        _work(file, sessions, record, tally=tally, advance=advance)
        for _ in range(min(concurrency, len(plan.sessions)))
    )
    await asyncio.gather(*workers)


async def _work(
    file: TurnFile,
    sessions: Iterator[tuple[str, Places]],
    record: Recorder,
    *,
    tally: Tally,
    advance: Callable[[], None],
) -> None:
    """Take one session after the other until none is left."""
    for session_id, places in sessions:
        for turn in file.session(session_id, places):
            if tally.stopped_by is not None:
                return
            if not await _recorded(turn, record, tally):
                break
            advance()


async def _recorded(turn: NumberedTurn, record: Recorder, tally: Tally) -> bool:
    """Record one turn; return whether its session may go on."""
    try:
        is_known = await record(turn)
    except (Forbidden, RateLimited, StorageError, OSError) as error:
        tally.stopped_by = tally.stopped_by or error
        return False
    except MemoryServerError as error:
        tally.refused.append((turn.line, error))
        return False
    tally.sent += 1
    tally.skipped = None if is_known is None or tally.skipped is None else tally.skipped + is_known
    return True
