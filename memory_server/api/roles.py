"""What a server answers that only does background work."""

from starlette.types import ASGIApp, Receive, Scope, Send

from memory_server.errors import WorkerOnly

ANSWERED = frozenset(("/health", "/ready", "/metrics"))


class OnlyHowItIs:
    """ASGI middleware of a worker: tells how it is, and sends everybody else elsewhere."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in ANSWERED:
            raise WorkerOnly(
                "this server has the role worker: it promotes and extracts, and answers only "
                f"{', '.join(sorted(ANSWERED))}. Ask a server with the role api or all"
            )
        await self._app(scope, receive, send)
