"""The composition root: the one module that names concrete classes."""

import os
import secrets
from datetime import timedelta

from memory_server.api.routes.health import package_version
from memory_server.application import Application, Lasting
from memory_server.domain.custom_type import CustomType
from memory_server.domain.formats import FormatStyle
from memory_server.domain.job import JobKind
from memory_server.domain.memory import MemoryType
from memory_server.domain.partitions import Partitions
from memory_server.domain.promotion import PromotionPolicy
from memory_server.domain.retry import RetryPolicy
from memory_server.domain.server import Server
from memory_server.models import Models, Providers, build_providers
from memory_server.ports.clock import Clock, Ids
from memory_server.ports.deployment import DeploymentRecords
from memory_server.ports.store import Store
from memory_server.project_config import MemoryConfig
from memory_server.providers.agents.builtin import BuiltInAgent
from memory_server.providers.agents.factory import build_agent
from memory_server.providers.owner_token import read_or_make
from memory_server.providers.system import SystemClock, TimeOrderedIds
from memory_server.providers.watched import (
    Watch,
    WatchedAnswerer,
    WatchedEmbedder,
    WatchedExtractor,
)
from memory_server.services.administration import Administration
from memory_server.services.agent_run import RunLimits
from memory_server.services.archiving import Archiving
from memory_server.services.configuration import running_config
from memory_server.services.context import ContextBuilding
from memory_server.services.custom_types import CustomTypes
from memory_server.services.embedding import LateEmbedding
from memory_server.services.executions import ExecutionKeeping
from memory_server.services.extraction import ExtractionOfSnapshots
from memory_server.services.identity import Identity
from memory_server.services.invocation import Invocation
from memory_server.services.members import MemberKeeping
from memory_server.services.memories import MemoryKeeping
from memory_server.services.projects import ProjectKeeping
from memory_server.services.promotion import Promotion
from memory_server.services.readiness import Background, ReadinessOfServer
from memory_server.services.reconciliation import Reconciliation
from memory_server.services.reembedding import Reembedding
from memory_server.services.reranking import Reranking
from memory_server.services.search import Retrieval
from memory_server.services.servers import Presence, fingerprint_of
from memory_server.services.service_accounts import ServiceAccounts
from memory_server.services.tokens import Tokens
from memory_server.services.turns import TurnRecording
from memory_server.settings import MongoSettings, ServerRole, Settings
from memory_server.storage.files import DeploymentDirectory
from memory_server.storage.files.start import in_effect
from memory_server.storage.sqlite.store import SqliteStore
from memory_server.worker.duties import (
    duties_of_every_server,
    duties_of_workers,
    standing_duties,
)
from memory_server.worker.runner import Runner
from memory_server.worker.schedule import Schedule

_STYLES = {"openai": FormatStyle.OPENAI, "anthropic": FormatStyle.CLAUDE}


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
    ids = TimeOrderedIds(clock)
    memory = settings.memory
    lasting = lasting or _lasting(settings, store, clock, ids, records)

    def on_failure() -> None:
        readiness.doubt()
        schedule.hurry("probing")

    embedder = WatchedEmbedder(providers.embedder, Watch(clock=clock, on_failure=on_failure))
    model = Watch(clock=clock, on_failure=on_failure)
    extractor = WatchedExtractor(providers.extractor, model)
    partitions = Partitions.of(memory)
    retrieval = Retrieval(store=store, embedder=embedder)
    keeping = MemoryKeeping(store=store, embedder=embedder, clock=clock, ids=ids)
    context = ContextBuilding(
        store=store,
        retrieval=retrieval,
        reranking=Reranking(providers.reranker),
        partitions=partitions,
        default_style=_STYLES.get(memory.extraction_llm.provider, FormatStyle.JINJA2),
    )
    reconciliation = Reconciliation(store=store, embedder=embedder, clock=clock, ids=ids)
    extraction = ExtractionOfSnapshots(
        store=store, extractor=extractor, reconciliation=reconciliation
    )
    late = LateEmbedding(store=store, embedder=embedder, clock=clock, ids=ids)
    reembedding = Reembedding(
        store=store,
        embedder=embedder,
        target=providers.target,
        wanted=settings.embedding,
        turns_alone=memory.embed_on_write or memory.snapshot.topic_shift_enabled,
        project_id=settings.project_id,
        clock=clock,
        ids=ids,
        on_queued=lambda: rebuilder.wake(),
    )
    rebuilder = Runner(
        jobs=store.jobs,
        handlers={JobKind.REEMBED: reembedding.work_off},
        clock=clock,
        worker=f"{lasting.presence.me.id}/reembedding",
        retry=RetryPolicy(),
        slots=1,
    )
    runner = Runner(
        jobs=store.jobs,
        handlers={JobKind.EXTRACT: extraction.work_off, JobKind.EMBED: late.work_off},
        clock=clock,
        worker=lasting.presence.me.id,
        retry=RetryPolicy(),
    )
    promotion = Promotion(
        store=store,
        embedder=embedder,
        clock=clock,
        ids=ids,
        policy=_policy(memory),
        enabled=[MemoryType(name) for name in memory.enabled],
        on_queued=runner.wake,
    )
    background = Background()
    readiness = ReadinessOfServer(
        store=store,
        embedder=embedder,
        extractor=extractor,
        embedding=providers.embedding,
        extraction=providers.extraction,
        background=background,
        reembedding=reembedding,
    )
    duties = duties_of_every_server(readiness, store)
    if settings.role is not ServerRole.API:
        duties += duties_of_workers(
            store=store,
            projects=lasting.projects,
            promotion=promotion,
            late=late,
            reembedding=reembedding,
            runner=runner,
            clock=clock,
            snapshot=memory.snapshot,
        )
    schedule = Schedule(clock=clock, duties=duties)
    recording = TurnRecording(
        turns=store.turns,
        clock=clock,
        ids=ids,
        embedder=embedder,
        embed_on_write=memory.embed_on_write,
        on_recorded=lambda: schedule.hurry("promotion"),
    )
    return Application(
        settings=settings,
        lasting=lasting,
        models=models,
        clock=clock,
        ids=ids,
        store=store,
        providers=providers,
        partitions=partitions,
        recording=recording,
        keeping=keeping,
        retrieval=retrieval,
        custom_types=CustomTypes(
            declared=[
                CustomType(name=one.name, tags=one.tags) for one in memory.custom_memory_types
            ],
            enabled=settings.custom_memory_types,
            keeping=keeping,
            retrieval=retrieval,
        ),
        context=context,
        promotion=promotion,
        invocation=Invocation(
            recording=recording,
            turns=store.turns,
            context=context,
            agent=lasting.agent or BuiltInAgent(WatchedAnswerer(providers.answerer, model)),
            executions=lasting.executions,
            clock=clock,
            ids=ids,
            project_of=lasting.projects.get,
            limits=RunLimits(whole=settings.invoke_seconds),
        ),
        administration=Administration(
            store=store, clock=clock, on_erased=lambda: schedule.hurry("traces")
        ),
        archiving=Archiving(
            store=store,
            embedder=embedder,
            clock=clock,
            declared=[one.name for one in memory.custom_memory_types],
        ),
        readiness=readiness,
        background=background,
        reembedding=reembedding,
        runner=runner,
        rebuilder=rebuilder,
        schedule=schedule,
    )


def _policy(memory: MemoryConfig) -> PromotionPolicy:
    snapshot = memory.snapshot
    return PromotionPolicy(
        max_messages=snapshot.max_messages,
        stale_after=timedelta(minutes=snapshot.stale_minutes),
        embed_before_promotion=snapshot.embed_stm_before_promotion,
        topic_shift_threshold=(
            snapshot.topic_shift_threshold if snapshot.topic_shift_enabled else None
        ),
    )


def _lasting(
    settings: Settings, store: Store, clock: Clock, ids: Ids, records: DeploymentRecords | None
) -> Lasting:
    owner_token = read_or_make(settings.owner_token_file or settings.data_dir / "owner-token")
    tokens = Tokens(clock=clock, owner_token=owner_token)
    me = _server(settings, owner_token, clock)
    executions = ExecutionKeeping(
        executions=store.executions, clock=clock, ids=ids, server_id=me.id
    )
    presence = Presence(servers=store.servers, clock=clock, me=me)
    standing = standing_duties(
        presence=presence, executions=executions, attempts=store.attempts, clock=clock
    )
    return Lasting(
        owner_token=owner_token,
        identity=Identity(
            accounts=store.accounts,
            members=store.members,
            tokens=tokens,
            owner_token=owner_token,
            executions=executions,
        ),
        service_accounts=ServiceAccounts(
            accounts=store.accounts, attempts=store.attempts, clock=clock, tokens=tokens
        ),
        projects=ProjectKeeping(projects=store.projects, clock=clock, own=settings.project_id),
        members=MemberKeeping(
            members=store.members, attempts=store.attempts, clock=clock, tokens=tokens
        ),
        executions=executions,
        presence=presence,
        standing=Schedule(clock=clock, duties=standing),
        records=records or DeploymentDirectory(settings.data_dir),
        agent=build_agent(settings, badges=executions),
    )


def _server(settings: Settings, owner_token: str, clock: Clock) -> Server:
    host, pid, now = os.uname().nodename, os.getpid(), clock.now()
    return Server(
        id=f"{host}:{pid}:{secrets.token_hex(4)}",
        host=host,
        pid=pid,
        role=settings.role,
        version=package_version(),
        config_digest=running_config(settings, since=now).digest,
        owner_fingerprint=fingerprint_of(owner_token),
        started_at=now,
        seen_at=now,
    )
