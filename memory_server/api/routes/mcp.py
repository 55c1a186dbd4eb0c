"""The door for MCP clients."""

import asyncio
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response
from starlette.types import Receive, Scope, Send

from memory_server.api.caller import Caller
from memory_server.api.dependencies import CallerOfRoute, ServicesOfApp, reads
from memory_server.api.mcp.calls import call
from memory_server.api.mcp.origins import check_origin
from memory_server.api.mcp.outcomes import outcome_of
from memory_server.api.serving import Services
from memory_server.settings import package_version

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType
    from typing import Any

    from memory_server.api.mcp.outcomes import Outcome
    from memory_server.api.mcp.tools import ToolName

router = APIRouter(tags=["mcp"])


@router.post("/projects/{project_id}/mcp", include_in_schema=False)
@reads
async def mcp(request: Request, caller: CallerOfRoute, services: ServicesOfApp) -> Response:
    """Serve one request of the Model Context Protocol.

    Whoever may read may come in; the tool that writes asks for more.
    """
    check_origin(request.headers.get("origin"), services.settings.allowed_origins)
    return _Tools(caller, services)


class _Tools(Response):
    """Hands the connection over to the protocol's library."""

    def __init__(self, caller: Caller, services: Services) -> None:
        super().__init__()
        self._caller = caller
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def called(name: "ToolName", arguments: "Mapping[str, Any]") -> "Outcome":
            calling = call(name, arguments, caller=self._caller, services=self._services)
            return await outcome_of(calling, Request(scope))

        transport = await asyncio.to_thread(_transport)
        await transport.serve(
            called, version=package_version(), scope=scope, receive=receive, send=send
        )


def _transport() -> "ModuleType":
    from memory_server.api.mcp import transport  # noqa: PLC0415 - half a second to load

    return transport
