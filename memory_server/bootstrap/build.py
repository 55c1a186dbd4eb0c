"""From settings to a joined server."""

from memory_server.application import Application, Lasting
from memory_server.bootstrap.joining import Joining
from memory_server.bootstrap.lasting import lasting_of
from memory_server.models import Models, Providers, build_providers
from memory_server.ports.clock import Clock
from memory_server.ports.deployment import DeploymentRecords
from memory_server.ports.store import Store
from memory_server.providers.system import SystemClock
from memory_server.settings import MongoSettings, Settings
from memory_server.storage.files.start import in_effect
from memory_server.storage.sqlite.store import SqliteStore


def build(settings: Settings) -> Application:
    """Join everything for production: the store that is named, the configured models.

    What was applied over HTTP goes before what is built in, never before what was delivered.
    """
    if settings.mongodb is not None:
        return _on_mongodb(settings, settings.mongodb)
    clock = SystemClock()
    store = SqliteStore(
        settings.data_dir / "memory.db",
        clock=clock,
        vector_memory_bytes=settings.index_memory_bytes,
    )
    settings = in_effect(settings)
    return join(settings, store=store, providers=build_providers(settings), clock=clock)


def _on_mongodb(settings: Settings, named: MongoSettings) -> Application:
    """Join one of several servers; all go by the clock and the configuration of the database."""
    from memory_server.storage import mongo  # noqa: PLC0415 - takes a tenth of a server's start

    clock = mongo.DatabaseClock(SystemClock())
    base = named.base or mongo.DEFAULT_BASE
    database = mongo.MongoDatabase(named.uri, base, named.project_id, clock=clock)
    return join(
        settings,
        store=mongo.MongoStore(
            database,
            clock=clock,
            directory=settings.data_dir / "index",
            vector_memory_bytes=settings.index_memory_bytes,
        ),
        providers=build_providers(settings),
        clock=clock,
        records=mongo.MongoDeployment(database),
    )


def succeed(settings: Settings, former: Application) -> Application:
    """Join services with other settings over the same store; models that stay are shared."""
    return join(
        settings,
        store=former.store,
        providers=former.models(settings, (former.settings, former.providers)),
        clock=former.clock,
        models=former.models,
        lasting=former.lasting,
    )


def join(
    settings: Settings,
    *,
    store: Store,
    providers: Providers,
    clock: Clock,
    models: Models = build_providers,
    lasting: Lasting | None = None,
    records: DeploymentRecords | None = None,
) -> Application:
    """Join the services over a store and models, whichever they are.

    Without `records`, the configuration is kept in files in the data directory.
    """
    lasting = lasting or lasting_of(settings, store, clock, records)
    joining = Joining(settings, store=store, providers=providers, clock=clock, lasting=lasting)
    return joining.application(models)
