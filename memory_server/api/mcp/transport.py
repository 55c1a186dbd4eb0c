"""The tools over streamable HTTP, by the protocol's own library.

Nothing is kept between two requests: each stands for itself, whichever server it reaches. A call
whose caller goes away is cancelled. Imported only when the first client comes, because the library
takes half a second to load.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from starlette.types import Receive, Scope, Send

from memory_server.api.mcp.outcomes import Outcome
from memory_server.api.mcp.tools import INSTRUCTIONS, TOOLS, ToolName
from memory_server.domain.limits import MAX_BODY_BYTES

SERVER_NAME = "agentengine-memory"

Call = Callable[[ToolName, Mapping[str, Any]], Awaitable[Outcome]]
_Context = ServerRequestContext[Any, Any]

# What it says of each request at level info, and of each that is refused, the frame says already.
logging.getLogger("mcp").setLevel(logging.ERROR)

_TOOLS = [
    Tool(
        name=tool.name.value,
        title=tool.title,
        description=tool.description,
        input_schema=dict(tool.takes),
        output_schema=dict(tool.gives),
        annotations=ToolAnnotations(
            read_only_hint=not tool.writes,
            destructive_hint=False,
            idempotent_hint=not tool.writes,
            open_world_hint=False,
        ),
    )
    for tool in TOOLS
]


async def serve(call: Call, *, version: str, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one HTTP request with the tools, which `call` calls."""
    server = _server(call, version)
    manager = StreamableHTTPSessionManager(
        app=server, stateless=True, max_request_body_size=MAX_BODY_BYTES
    )
    async with manager.run():
        await manager.handle_request(scope, receive, send)


def _server(call: Call, version: str) -> Server[Any]:
    async def list_tools(
        _context: _Context, _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=_TOOLS)

    async def call_tool(_context: _Context, params: CallToolRequestParams) -> CallToolResult:
        return _result(await call(_named(params.name), params.arguments or {}))

    return Server(
        SERVER_NAME,
        version=version,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _named(name: str) -> ToolName:
    try:
        return ToolName(name)
    except ValueError:
        known = ", ".join(ToolName)
        raise MCPError(INVALID_PARAMS, f"there is no tool {name!r}; there are {known}") from None


def _result(outcome: Outcome) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(text=text) for text in outcome.texts],
        structured_content=dict(outcome.document),
        is_error=outcome.failed,
    )
