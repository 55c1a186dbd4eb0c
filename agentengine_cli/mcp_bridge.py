"""The tools of a server over HTTP, served to one client over standard input and output.

Nothing is decided here: what the tools are and do is the server's affair. Imported only by the
command, because the protocol's library takes half a second to load.
"""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)

from agentengine_cli.errors import ExitCode, explain
from agentengine_cli.filelog import logger
from agentengine_cli.mcp_input import Messages
from memory_server.client import ServerUnreachable
from memory_server.client.tools import ProtocolError

if TYPE_CHECKING:
    from memory_server.client import MemoryServerClient

NAME = "agentengine"

_Context = ServerRequestContext[Any, Any]
_Work = Callable[["MemoryServerClient"], Awaitable[Mapping[str, Any]]]


@dataclass(slots=True, kw_only=True)
class Bridge:
    """Passes calls on. A server that does not answer any more is looked for again."""

    connect: Callable[[], "MemoryServerClient"]
    """Finds the server that is meant; raises what explains why there is none."""
    defaults: Mapping[str, str]
    """Arguments of a call that leaves them out."""
    version: str
    warn: Callable[[str], None]
    """Tells whoever started it, not the client."""
    _client: "MemoryServerClient | None" = field(default=None)

    async def run(self) -> None:
        """Serve until standard input ends; raises at once if the server cannot be used.

        Raises `NoMessage` if nothing came that a client would send.
        """
        try:
            await self.tools()
            server = self._server()
            _end_on_interrupt()
            async with stdio_server() as (incoming, outgoing):
                messages = Messages(incoming, self.warn)
                await server.run(messages, outgoing, server.create_initialization_options())
            messages.check()
        finally:
            await self._forget()

    async def tools(self) -> list[Mapping[str, Any]]:
        """Return the server's tools, needing none of the arguments that have a default."""
        listed = await self._asked(lambda client: client.tools.list())
        return [self._eased(tool) for tool in listed["tools"]]

    async def called(self, name: str, arguments: Mapping[str, Any]) -> CallToolResult:
        """Return what a call brings; what stands in its way is told to the model."""
        given = {key: value for key, value in arguments.items() if value is not None}
        try:
            result = await self._asked(
                lambda client: client.tools.call(name, {**self.defaults, **given})
            )
        except ProtocolError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from error
        except Exception as error:  # noqa: BLE001 - a model can act on what it is told
            return CallToolResult(content=[TextContent(text=_told(error))], is_error=True)
        return CallToolResult.model_validate(result)

    def _server(self) -> Server[Any]:
        async def list_tools(
            _context: _Context, _params: PaginatedRequestParams | None
        ) -> ListToolsResult:
            try:
                return ListToolsResult.model_validate({"tools": await self.tools()})
            except Exception as error:
                raise MCPError(INTERNAL_ERROR, _told(error)) from error

        async def call_tool(_context: _Context, params: CallToolRequestParams) -> CallToolResult:
            return await self.called(params.name, params.arguments or {})

        return Server(NAME, version=self.version, on_list_tools=list_tools, on_call_tool=call_tool)

    async def _asked(self, work: _Work) -> Mapping[str, Any]:
        if self._client is None:
            self._client = self.connect()
        try:
            return await work(self._client)
        except ServerUnreachable:
            await self._forget()
            raise

    async def _forget(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _eased(self, tool: Mapping[str, Any]) -> Mapping[str, Any]:
        schema = tool["inputSchema"]
        needed = [name for name in schema.get("required", ()) if name not in self.defaults]
        properties = {
            name: {**about, "default": self.defaults[name]} if name in self.defaults else about
            for name, about in schema["properties"].items()
        }
        eased = {**schema, "properties": properties, "required": needed}
        return {**tool, "inputSchema": eased}


def _end_on_interrupt() -> None:
    """Have Ctrl-C end the process: a cancelled read of standard input waits for another line."""
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, os._exit, ExitCode.INTERRUPTED)


def _told(error: Exception) -> str:
    """Return what a user of the command line would be told."""
    told = explain(error)
    if told is None:
        logger.error("a tool failed on a fault of the program", exc_info=error)
        return f"INTERNAL: a defect in agentengine ({type(error).__name__}); its log has more"
    hint = f" Hint: {told.hint}" if told.hint else ""
    return f"{told.code}: {told}.{hint}"
