"""The web application: life cycle, routes, error answers; nothing else."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from fastapi import FastAPI

from memory_server.api import errors, families
from memory_server.api.admission import Admission
from memory_server.api.limits import RequestFrame
from memory_server.api.metrics import Metrics
from memory_server.api.paths import PlainPaths
from memory_server.api.roles import OnlyHowItIs
from memory_server.api.serving import OnOneRelease
from memory_server.application import Application
from memory_server.bootstrap import build, succeed
from memory_server.services.deployment import Deployment
from memory_server.services.opening import Opening
from memory_server.services.stages import listening
from memory_server.settings import ServerRole, Settings, package_version


def create_app(
    served: Settings | Application, *, on_switch: Callable[[Settings], None] | None = None
) -> FastAPI:
    """Return the application of a joined server, or of the one that settings describe.

    While it lives, the store is open and the worker works. A worker that ends leaves the routes
    serving and the server not ready. `on_switch` is told the settings of the services that
    begin to serve, the first ones too.
    """
    application = build(served) if isinstance(served, Settings) else served
    base = served if isinstance(served, Settings) else application.settings
    deployment = Deployment(
        application,
        base=base,
        succeed=succeed,
        store=application.store,
        records=application.lasting.records,
        presence=application.presence,
        clock=application.clock,
        on_switch=on_switch,
    )
    metrics = Metrics()
    app = FastAPI(
        title="Agent Engine memory server",
        summary="Memory for AI agents: record turns, remember, search, build contexts.",
        version=package_version(),
        lifespan=lambda _: _living(application, deployment, metrics),
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.deployment = deployment
    app.state.metrics = metrics
    admission = Admission(
        clock=application.clock,
        owner_token=application.owner_token,
        writes_a_second=application.settings.writes_a_second,
    )
    app.add_middleware(OnOneRelease, deployment=deployment)
    if base.role is ServerRole.WORKER:
        app.add_middleware(OnlyHowItIs)
    app.add_middleware(RequestFrame, metrics=metrics, admission=admission)
    app.add_middleware(PlainPaths)
    errors.install(app)
    families.mount(app)
    return app


@asynccontextmanager
async def _living(
    application: Application, deployment: Deployment[Application], metrics: Metrics
) -> AsyncIterator[None]:
    """Open the store and begin the work; end all in order."""
    opening = _opening(application, deployment)
    try:
        with listening(metrics.observe_stage):
            await opening.begin()
    except BaseException:  # what was opened has threads, which would keep the process
        await deployment.current.close()
        raise
    try:
        yield
    finally:
        await opening.end()
        await deployment.end()
        await application.lasting.standing.end()
        await application.presence.leave()
        await deployment.current.close()


def _opening(application: Application, deployment: Deployment[Application]) -> Opening:
    async def begin() -> None:
        await application.store.open()
        await application.store.take_over()
        await deployment.prepare()
        await application.presence.join()
        deployment.begin()
        application.lasting.standing.begin()

    is_elsewhere = application.settings.mongodb is not None
    return Opening(begin, clock=application.clock, waits=is_elsewhere)
