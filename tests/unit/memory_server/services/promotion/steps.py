"""What the tests of promotion do."""

from collections.abc import Callable

from memory_server.services.promotion import Promotion
from memory_server.services.turns import TurnRecording
from tests.unit.memory_server.services.conftest import ANA, a_turn

Build = Callable[..., Promotion]


async def say(recording: TurnRecording, *lines: str, session: str = "s1") -> None:
    for line in lines:
        await recording.record(ANA, a_turn(line, session=session))
