"""The composition root: the one module that names concrete classes."""

import asyncio
import logging
import os
import secrets
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from memory_server.domain.chunk import RetrievalMode, Source
from memory_server.domain.custom_type import CustomType
from memory_server.domain.embedding import EmbeddingSpace
from memory_server.domain.formats import FormatStyle
from memory_server.domain.job import JobKind
from memory_server.domain.memory import BUILT_IN, MemoryType
from memory_server.domain.partitions import BOTH, Legs, Partitions
from memory_server.domain.promotion import PromotionPolicy
from memory_server.domain.retry import RetryPolicy
from memory_server.ports.answerer import Answerer
from memory_server.ports.clock import Clock, Ids
from memory_server.ports.embedder import Embedder
from memory_server.ports.extractor import Extractor
from memory_server.ports.store import Store
from memory_server.project_config import (
    EmbeddingConfig,
    ExtractionLlmConfig,
    MemoryConfig,
    required_keys,
)
from memory_server.providers.answering.factory import build_answerer
from memory_server.providers.embedding.factory import build_embedder
from memory_server.providers.extraction.factory import build_extractor
from memory_server.providers.owner_token import read_or_make
from memory_server.providers.system import SystemClock, TimeOrderedIds
from memory_server.providers.unconfigured import (
    UnconfiguredAnswerer,
    UnconfiguredEmbedder,
    UnconfiguredExtractor,
)
from memory_server.providers.watched import (
    Watch,
    WatchedAnswerer,
    WatchedEmbedder,
    WatchedExtractor,
)
from memory_server.services.administration import Administration
from memory_server.services.context import ContextBuilding
from memory_server.services.custom_types import CustomTypes
from memory_server.services.embedding import LateEmbedding
from memory_server.services.executions import Executions
from memory_server.services.extraction import ExtractionOfSnapshots
from memory_server.services.identity import Identity
from memory_server.services.invocation import Invocation
from memory_server.services.members import MemberKeeping
from memory_server.services.memories import MemoryKeeping
from memory_server.services.projects import ProjectKeeping
from memory_server.services.promotion import Promotion
from memory_server.services.readiness import Background, ReadinessOfServer
from memory_server.services.reconciliation import Reconciliation
from memory_server.services.search import Retrieval
from memory_server.services.service_accounts import ServiceAccounts
from memory_server.services.tokens import Tokens
from memory_server.services.turns import TurnRecording
from memory_server.settings import Settings
from memory_server.storage.sqlite.store import SqliteStore
from memory_server.worker.runner import Runner
from memory_server.worker.schedule import Duty, Schedule

logger = logging.getLogger(__name__)

LOCAL_EMBEDDING = EmbeddingConfig(provider="local", model="bge-small-en-v1.5", dimension=384)
LOCAL_EXTRACTION = ExtractionLlmConfig(provider="local")
DRAIN_SECONDS = 20
"""How long a stopping server waits for the work it has begun."""
TIDY_SNAPSHOTS = 50
TIDY_TURNS = 500
"""How much is deleted in one go."""

_SOURCES: Mapping[str, Source] = {
    "short_term": Source.STM,
    **{kind.value: Source(kind.value) for kind in BUILT_IN},
}
_LEGS: Mapping[str, Legs] = {
    "text": frozenset((RetrievalMode.TEXT,)),
    "vector": frozenset((RetrievalMode.SEMANTIC,)),
    "both": BOTH,
}
_STYLES = {"openai": FormatStyle.OPENAI, "anthropic": FormatStyle.CLAUDE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Providers:
    """The models, and what readiness says about them."""

    embedder: Embedder
    extractor: Extractor
    answerer: Answerer
    embedding: Mapping[str, object]
    extraction: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """Everything that serves, joined."""

    settings: Settings
    owner_token: str
    clock: Clock
    ids: Ids
    store: Store
    providers: Providers
    partitions: Partitions
    recording: TurnRecording
    keeping: MemoryKeeping
    retrieval: Retrieval
    custom_types: CustomTypes
    context: ContextBuilding
    promotion: Promotion
    identity: Identity
    service_accounts: ServiceAccounts
    projects: ProjectKeeping
    members: MemberKeeping
    executions: Executions
    invocation: Invocation
    administration: Administration
    readiness: ReadinessOfServer
    background: Background
    runner: Runner
    schedule: Schedule

    async def run(self, stopping: asyncio.Event) -> None:
        """Do the background work until told to stop, then end it in order.

        If it ends before, readiness says so, and why.
        """
        self.background.began()
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(_unending(self.runner.run(), stopping))
                tasks.create_task(_unending(self.schedule.run(), stopping))
                await stopping.wait()
                self.schedule.stop()
                self.runner.stop()
        except BaseException as error:
            self.background.ended(f"it ended with {type(error).__name__}: see the log")
            raise
        self.background.ended("it was told to stop")

    async def close(self) -> None:
        """Let the store and the models go."""
        await self.providers.embedder.close()
        await self.providers.extractor.close()
        await self.store.close()


async def _unending(work: Coroutine[Any, Any, None], stopping: asyncio.Event) -> None:
    """Do work that has no end of its own; one that it comes to all the same is an error."""
    await work
    if not stopping.is_set():
        raise RuntimeError("background work came to an end that nobody asked for")


def build(settings: Settings) -> Application:
    """Join everything for production: SQLite in the data directory, the configured models."""
    clock = SystemClock()
    store = SqliteStore(settings.data_dir / "memory.db", clock=clock)
    return join(settings, store=store, providers=build_providers(settings), clock=clock)


def join(settings: Settings, *, store: Store, providers: Providers, clock: Clock) -> Application:
    """Join the services over a store and models, whichever they are."""
    ids = TimeOrderedIds(clock)
    memory = settings.memory
    owner_token = _owner_token(settings)
    tokens = Tokens(clock=clock, owner_token=owner_token)
    projects = ProjectKeeping(projects=store.projects, clock=clock, own=settings.project_id)
    executions = Executions(clock=clock, ids=ids)

    def on_failure() -> None:
        readiness.doubt()
        schedule.hurry("probing")

    embedder = WatchedEmbedder(providers.embedder, Watch(clock=clock, on_failure=on_failure))
    model = Watch(clock=clock, on_failure=on_failure)
    extractor = WatchedExtractor(providers.extractor, model)
    partitions = _partitions(memory)
    retrieval = Retrieval(store=store, embedder=embedder)
    keeping = MemoryKeeping(store=store, embedder=embedder, clock=clock, ids=ids)
    context = ContextBuilding(
        store=store,
        retrieval=retrieval,
        partitions=partitions,
        default_style=_STYLES.get(memory.extraction_llm.provider, FormatStyle.JINJA2),
    )
    reconciliation = Reconciliation(store=store, embedder=embedder, clock=clock, ids=ids)
    extraction = ExtractionOfSnapshots(
        store=store, extractor=extractor, reconciliation=reconciliation
    )
    late = LateEmbedding(store=store, embedder=embedder, clock=clock, ids=ids)
    runner = Runner(
        jobs=store.jobs,
        handlers={JobKind.EXTRACT: extraction.work_off, JobKind.EMBED: late.work_off},
        clock=clock,
        worker=f"{os.uname().nodename}:{os.getpid()}:{secrets.token_hex(4)}",
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
    )
    schedule = Schedule(
        clock=clock,
        duties=_duties(settings, store, projects, promotion, late, readiness, runner, clock),
    )
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
        owner_token=owner_token,
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
        identity=Identity(
            accounts=store.accounts,
            members=store.members,
            tokens=tokens,
            owner_token=owner_token,
            executions=executions,
        ),
        service_accounts=ServiceAccounts(accounts=store.accounts, clock=clock, tokens=tokens),
        projects=projects,
        members=MemberKeeping(members=store.members, clock=clock, tokens=tokens),
        executions=executions,
        invocation=Invocation(
            recording=recording,
            turns=store.turns,
            context=context,
            answerer=WatchedAnswerer(providers.answerer, model),
            ids=ids,
        ),
        administration=Administration(store=store, clock=clock),
        readiness=readiness,
        background=background,
        runner=runner,
        schedule=schedule,
    )


def build_providers(settings: Settings) -> Providers:
    """Make the configured models; one without its key is stood in for, and readiness says so."""
    embedding, extraction = settings.memory.embedding, settings.memory.extraction_llm
    if settings.local_models:
        embedding, extraction = LOCAL_EMBEDDING, LOCAL_EXTRACTION
    config = replace(settings.memory, embedding=embedding, extraction_llm=extraction)
    keys = {need.purpose: need.names for need in required_keys(config)}
    found = {purpose: _first(names, settings.secrets) for purpose, names in keys.items()}
    missing = {
        purpose: f"no key for {purpose}; looked for {', then '.join(names)} in the project's "
        "secrets and in .env"
        for purpose, names in keys.items()
        if found[purpose] is None
    }
    return Providers(
        embedder=_embedder(embedding, found.get("embedding"), missing.get("embedding")),
        extractor=(
            UnconfiguredExtractor(missing["extraction"])
            if "extraction" in missing
            else build_extractor(extraction, found.get("extraction"))
        ),
        answerer=(
            UnconfiguredAnswerer(missing["extraction"])
            if "extraction" in missing
            else build_answerer(extraction, found.get("extraction"))
        ),
        embedding={
            "provider": embedding.provider,
            "model": embedding.model,
            "dimension": embedding.dimension,
        },
        extraction={
            "provider": extraction.provider,
            "model": extraction.model,
            "enabled": list(settings.memory.enabled),
        },
    )


def _embedder(config: EmbeddingConfig, key: str | None, missing: str | None) -> Embedder:
    if missing is not None:
        space = EmbeddingSpace(model=config.model, dimension=config.dimension)
        return UnconfiguredEmbedder(space, missing)
    return build_embedder(config, key=key)


def _first(names: Sequence[str], given: Mapping[str, str]) -> str | None:
    return next((given[name] for name in names if name in given), None)


def _duties(
    settings: Settings,
    store: Store,
    projects: ProjectKeeping,
    promotion: Promotion,
    late: LateEmbedding,
    readiness: ReadinessOfServer,
    runner: Runner,
    clock: Clock,
) -> list[Duty]:
    snapshot = settings.memory.snapshot

    async def promote() -> None:
        await promotion.promote_ripe()

    async def embed_late() -> None:
        queued = [await late.sweep(project.id) for project in await projects.list()]
        if any(queued):
            runner.wake()

    async def tidy() -> None:
        before = clock.now() - timedelta(days=snapshot.ttl_days)
        if snapshot.delete_promoted:
            await _to_the_end(lambda: store.snapshots.delete_promoted_turns(limit=TIDY_TURNS))
        await _to_the_end(lambda: store.snapshots.expire(before=before, limit=TIDY_SNAPSHOTS))

    return [
        Duty(name="promotion", every=timedelta(seconds=1), act=promote),
        Duty(name="late embedding", every=timedelta(seconds=10), act=embed_late),
        Duty(name="expiry", every=timedelta(seconds=60), act=tidy),
        Duty(name="probing", every=timedelta(seconds=15), act=readiness.probe_doubtful),
        Duty(name="checking", every=timedelta(minutes=5), act=readiness.probe),
    ]


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


def _partitions(memory: MemoryConfig) -> Partitions:
    return Partitions(
        keys={key.name: key.type for key in memory.partition_keys},
        index={_SOURCES[name]: _LEGS[legs] for name, legs in memory.partition_index.items()},
    )


def _owner_token(settings: Settings) -> str:
    """Return the owner token; a server has an owner from the start."""
    return read_or_make(settings.owner_token_file or settings.data_dir / "owner-token")


async def _to_the_end(some: Callable[[], Awaitable[int]]) -> None:
    """Do a little at a time until nothing is left, so that whoever writes meanwhile gets a turn."""
    left = True
    while left:
        left = await some() > 0
        await asyncio.sleep(0)
