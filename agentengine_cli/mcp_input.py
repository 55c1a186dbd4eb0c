"""What an MCP client sends, without the lines that are no message; those are told of."""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import anyio
from mcp.shared._stream_protocols import ReadStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from agentengine_cli.errors import CliError

MOST_TOLD = 3
"""Of lines that are no message; a whole file of them would bury what matters."""


class NoMessage(CliError):
    """Standard input ended, and held nothing that the protocol knows."""


@dataclass(slots=True)
class Messages:
    """Passes messages on in their order; the protocol's library drops others without a word."""

    source: ReadStream[SessionMessage | Exception]
    tell: Callable[[str], None]
    passed: int = field(default=0, init=False)
    refused: int = field(default=0, init=False)

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message; raises `EndOfStream` when there is none."""
        while True:
            item = await self.source.receive()
            if not isinstance(item, Exception):
                self.passed += 1
                return item
            if not _is_of_a_blank_line(item):
                self._refuse()

    def check(self) -> None:
        """Raise `NoMessage` if lines came and none of them was a message."""
        if self.refused and not self.passed:
            raise NoMessage(
                "Standard input held no message of the Model Context Protocol",
                hint="This command is started by an MCP client, which speaks JSON-RPC to it, one "
                "message a line",
            )

    async def aclose(self) -> None:
        """Let go of the source."""
        await self.source.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    def _refuse(self) -> None:
        self.refused += 1
        if self.refused <= MOST_TOLD:
            more = "; more of them are not told" if self.refused == MOST_TOLD else ""
            self.tell(f"a line of standard input is no JSON-RPC message and is passed over{more}")


def _is_of_a_blank_line(error: Exception) -> bool:
    if not isinstance(error, ValidationError):
        return False
    given = error.errors()[0]["input"]
    return isinstance(given, str) and not given.strip()
