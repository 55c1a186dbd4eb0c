"""The web application: life cycle, routes, error answers; nothing else."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from memory_server.api import errors, families
from memory_server.api.admission import Admission
from memory_server.api.limits import RequestFrame
from memory_server.api.metrics import Metrics
from memory_server.api.routes.health import package_version
from memory_server.bootstrap import DRAIN_SECONDS, Application, build
from memory_server.settings import Settings

logger = logging.getLogger(__name__)


def create_app(served: Settings | Application) -> FastAPI:
    """Return the application of a joined server, or of the one that settings describe.

    While it lives, the store is open and the worker works. A worker that ends leaves the routes
    serving and the server not ready.
    """
    application = build(served) if isinstance(served, Settings) else served

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        await application.store.open()
        stopping = asyncio.Event()
        work = asyncio.create_task(application.run(stopping), name="background work")
        work.add_done_callback(_report)
        try:
            yield
        finally:
            stopping.set()
            await asyncio.wait({work}, timeout=DRAIN_SECONDS)
            work.cancel()
            await asyncio.wait({work})
            await application.close()

    app = FastAPI(
        title="Agent Engine memory server",
        summary="Memory for AI agents: record turns, remember, search, build contexts.",
        version=package_version(),
        lifespan=life,
        docs_url=None,
        redoc_url=None,
    )
    metrics = Metrics()
    app.state.services = application
    app.state.metrics = metrics
    admission = Admission(
        clock=application.clock,
        owner_token=application.owner_token,
        writes_a_second=application.settings.writes_a_second,
    )
    app.add_middleware(RequestFrame, metrics=metrics, admission=admission)
    errors.install(app)
    families.mount(app)
    return app


def _report(work: "asyncio.Task[None]") -> None:
    if not work.cancelled() and (error := work.exception()) is not None:
        logger.error("the background work ended; the server is not ready any more", exc_info=error)
