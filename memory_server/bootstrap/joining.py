"""The services of one configuration, over a store and models."""

from collections.abc import Mapping
from datetime import timedelta
from functools import cached_property

from memory_server.application import Application, Lasting
from memory_server.domain.custom_type import CustomType
from memory_server.domain.formats import FormatStyle
from memory_server.domain.job import JobKind
from memory_server.domain.memory import MemoryType
from memory_server.domain.partitions import Partitions
from memory_server.domain.promotion import PromotionPolicy
from memory_server.domain.retry import RetryPolicy
from memory_server.domain.spending import Budget
from memory_server.models import Models, Providers
from memory_server.ports.clock import Clock
from memory_server.ports.spaces import BareTurns
from memory_server.ports.store import Store
from memory_server.project_config import MemoryConfig
from memory_server.providers.agents.builtin import BuiltInAgent
from memory_server.providers.breaker import ProviderBreaker
from memory_server.providers.system import TimeOrderedIds
from memory_server.providers.watched import (
    Watch,
    WatchedAnswerer,
    WatchedEmbedder,
    WatchedExtractor,
)
from memory_server.services.administration import Administration
from memory_server.services.agent_run import RunLimits
from memory_server.services.archiving import Archiving
from memory_server.services.block_contexts import ContextMaking
from memory_server.services.blocks import BlockKeeping
from memory_server.services.context import ContextBuilding
from memory_server.services.custom_types import CustomTypes
from memory_server.services.embedding import LateEmbedding
from memory_server.services.extraction import ExtractionOfSnapshots
from memory_server.services.invocation import Invocation
from memory_server.services.memories import MemoryKeeping
from memory_server.services.promotion import Promotion
from memory_server.services.proposals import Proposing, Reviewing
from memory_server.services.readiness import Background, ReadinessOfServer
from memory_server.services.reconciliation import Reconciliation
from memory_server.services.reembedding import Reembedding
from memory_server.services.reranking import Reranking
from memory_server.services.search import Retrieval
from memory_server.services.spending import MeteredExtractor, SpendingKeeping
from memory_server.services.turns import TurnRecording
from memory_server.settings import ServerRole, Settings
from memory_server.worker.duties import (
    duties_of_every_server,
    duties_of_workers,
)
from memory_server.worker.runner import Runner
from memory_server.worker.schedule import Schedule

_STYLES = {"openai": FormatStyle.OPENAI, "anthropic": FormatStyle.CLAUDE}


class Joining:
    """Services as they are asked for, each made once: whoever needs another just names it."""

    def __init__(
        self,
        settings: Settings,
        *,
        store: Store,
        providers: Providers,
        clock: Clock,
        lasting: Lasting,
    ) -> None:
        self._settings = settings
        self._memory = settings.memory
        self._store = store
        self._providers = providers
        self._lasting = lasting
        self._clock = clock
        self._ids = TimeOrderedIds(clock)
        self._background = Background()
        self._partitions = Partitions.of(settings.memory)
        self._retry = RetryPolicy()
        self._breakers = {
            "embedding": self._breaker("embedding", providers.embedding),
            "extraction": self._breaker("extraction", providers.extraction),
        }
        self._embedder = WatchedEmbedder(
            providers.embedder, self._watch(self._breakers["embedding"])
        )
        self._model = self._watch(self._breakers["extraction"])
        is_hosted = providers.extraction.get("provider") != "local"
        self._spending = SpendingKeeping(
            store=store,
            clock=clock,
            budget=Budget.of(self._memory.budget) if is_hosted else Budget(),
            model=providers.extraction,
        )
        self._extractor = MeteredExtractor(
            WatchedExtractor(providers.extractor, self._model), self._spending
        )
        self._retrieval = Retrieval(store=store, embedder=self._embedder)
        self._keeping = MemoryKeeping(
            store=store, embedder=self._embedder, clock=clock, ids=self._ids
        )

    def application(self, models: Models) -> Application:
        """Return everything, joined."""
        return Application(
            settings=self._settings,
            lasting=self._lasting,
            models=models,
            clock=self._clock,
            ids=self._ids,
            store=self._store,
            providers=self._providers,
            partitions=self._partitions,
            recording=self._recording,
            keeping=self._keeping,
            retrieval=self._retrieval,
            custom_types=self._custom_types(),
            blocks=BlockKeeping(
                store=self._store,
                embedder=self._embedder,
                clock=self._clock,
                ids=self._ids,
                on_queued=self._runner.wake,
            ),
            context=self._context,
            promotion=self._promotion,
            invocation=self._invocation(),
            reviewing=self._reviewing,
            administration=Administration(
                store=self._store,
                clock=self._clock,
                on_erased=lambda: self._schedule.hurry("traces"),
            ),
            archiving=Archiving(
                store=self._store,
                embedder=self._embedder,
                clock=self._clock,
                declared=[one.name for one in self._memory.custom_memory_types],
            ),
            readiness=self._readiness,
            breakers=self._breakers,
            spending=self._spending,
            background=self._background,
            reembedding=self._reembedding,
            runner=self._runner,
            rebuilder=self._rebuilder,
            schedule=self._schedule,
        )

    def _breaker(self, purpose: str, described: Mapping[str, object]) -> ProviderBreaker:
        return ProviderBreaker(
            purpose=purpose,
            provider=str(described.get("provider")),
            clock=self._clock,
            policy=self._retry,
        )

    def _watch(self, breaker: ProviderBreaker) -> Watch:
        def on_failure() -> None:
            self._readiness.doubt()
            self._schedule.hurry("probing")

        return Watch(clock=self._clock, breaker=breaker, on_failure=on_failure)

    @cached_property
    def _recording(self) -> TurnRecording:
        return TurnRecording(
            turns=self._store.turns,
            clock=self._clock,
            ids=self._ids,
            embedder=self._embedder,
            embed_on_write=self._memory.embed_on_write,
            on_recorded=lambda: self._schedule.hurry("promotion"),
        )

    @cached_property
    def _context(self) -> ContextBuilding:
        return ContextBuilding(
            store=self._store,
            retrieval=self._retrieval,
            reranking=Reranking(self._providers.reranker),
            partitions=self._partitions,
            default_style=_STYLES.get(self._memory.extraction_llm.provider, FormatStyle.JINJA2),
        )

    @cached_property
    def _promotion(self) -> Promotion:
        return Promotion(
            store=self._store,
            embedder=self._embedder,
            clock=self._clock,
            ids=self._ids,
            policy=_policy(self._memory),
            enabled=[MemoryType(name) for name in self._memory.enabled],
            on_queued=self._runner.wake,
        )

    @cached_property
    def _late(self) -> LateEmbedding:
        return LateEmbedding(
            store=self._store, embedder=self._embedder, clock=self._clock, ids=self._ids
        )

    @cached_property
    def _reconciliation(self) -> Reconciliation:
        return Reconciliation(
            store=self._store, embedder=self._embedder, clock=self._clock, ids=self._ids
        )

    @cached_property
    def _reviewing(self) -> Reviewing:
        return Reviewing(
            store=self._store,
            reconciliation=self._reconciliation,
            clock=self._clock,
            approval=self._memory.approval,
        )

    @cached_property
    def _runner(self) -> Runner:
        extraction = ExtractionOfSnapshots(
            store=self._store,
            extractor=self._extractor,
            reconciliation=self._reconciliation,
            proposing=(
                Proposing(store=self._store, clock=self._clock, ids=self._ids)
                if self._memory.approval == "manual"
                else None
            ),
        )
        contexts = ContextMaking(store=self._store, extractor=self._extractor)
        return Runner(
            jobs=self._store.jobs,
            handlers={
                JobKind.EXTRACT: self._spending.within_budget(extraction.work_off),
                JobKind.EMBED: self._late.work_off,
                JobKind.CONTEXT: self._spending.within_budget(contexts.work_off),
            },
            clock=self._clock,
            worker=self._lasting.presence.me.id,
            retry=self._retry,
            breakers={
                JobKind.EXTRACT: self._breakers["extraction"],
                JobKind.EMBED: self._breakers["embedding"],
                JobKind.CONTEXT: self._breakers["extraction"],
            },
        )

    @cached_property
    def _reembedding(self) -> Reembedding:
        memory = self._memory
        return Reembedding(
            store=self._store,
            embedder=self._embedder,
            target=self._providers.target,
            wanted=self._settings.embedding,
            turns_alone=memory.embed_on_write or memory.snapshot.topic_shift_enabled,
            bare=self._bare_turns,
            project_id=self._settings.project_id,
            clock=self._clock,
            ids=self._ids,
            on_queued=lambda: self._rebuilder.wake(),
        )

    @property
    def _bare_turns(self) -> BareTurns:
        """Which turns are to have a vector, as far as a model that was away gave them none."""
        if self._memory.embed_on_write:
            return BareTurns.ALL
        is_embedded = self._memory.snapshot.embed_stm_before_promotion
        return BareTurns.PROMOTED if is_embedded else BareTurns.NONE

    @cached_property
    def _rebuilder(self) -> Runner:
        return Runner(
            jobs=self._store.jobs,
            handlers={JobKind.REEMBED: self._reembedding.work_off},
            clock=self._clock,
            worker=f"{self._lasting.presence.me.id}/reembedding",
            retry=self._retry,
            slots=1,
        )

    @cached_property
    def _readiness(self) -> ReadinessOfServer:
        return ReadinessOfServer(
            store=self._store,
            embedder=self._embedder,
            extractor=self._extractor,
            embedding=self._providers.embedding,
            extraction=self._providers.extraction,
            breakers=self._breakers,
            spending=self._spending,
            project_id=self._settings.project_id,
            background=self._background,
            reembedding=self._reembedding,
            reviewing=self._reviewing,
        )

    @cached_property
    def _schedule(self) -> Schedule:
        duties = duties_of_every_server(self._readiness, self._store)
        if self._settings.role is not ServerRole.API:
            duties += duties_of_workers(
                store=self._store,
                projects=self._lasting.projects,
                promotion=self._promotion,
                late=self._late,
                reembedding=self._reembedding,
                runner=self._runner,
                spending=self._spending,
                clock=self._clock,
                snapshot=self._memory.snapshot,
            )
        return Schedule(clock=self._clock, duties=duties)

    def _custom_types(self) -> CustomTypes:
        return CustomTypes(
            declared=[
                CustomType(name=one.name, tags=one.tags) for one in self._memory.custom_memory_types
            ],
            enabled=self._settings.custom_memory_types,
            keeping=self._keeping,
            retrieval=self._retrieval,
        )

    def _invocation(self) -> Invocation:
        lasting, model = self._lasting, self._model
        return Invocation(
            recording=self._recording,
            turns=self._store.turns,
            context=self._context,
            agent=lasting.agent or BuiltInAgent(WatchedAnswerer(self._providers.answerer, model)),
            executions=lasting.executions,
            clock=self._clock,
            ids=self._ids,
            project_of=lasting.projects.get,
            limits=RunLimits(whole=self._settings.invoke_seconds),
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
