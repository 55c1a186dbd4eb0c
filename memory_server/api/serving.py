"""Each request on the services it began on."""

from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from memory_server.services.deployment import Deployment

PIN = "serving"
"""Where a request's scope has its hold on the services."""
WAITS_BELOW = "/api/"
"""What stands elsewhere tells of the server, and answers also while nothing may be written."""


class OnOneRelease:
    """ASGI middleware: holds on to the services of the moment until the answer is given."""

    def __init__(self, app: ASGIApp, *, deployment: Deployment[Any]) -> None:
        self._app = app
        self._deployment = deployment

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        pin = await self._deployment.pin(waits=scope["path"].startswith(WAITS_BELOW))
        scope[PIN] = pin
        try:
            await self._app(scope, receive, send)
        finally:
            pin.end()
