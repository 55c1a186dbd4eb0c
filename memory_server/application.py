"""A joined server: its services, and what goes on whatever their configuration."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memory_server.domain.partitions import Partitions
from memory_server.models import Models, Providers
from memory_server.ports.agent import Agent
from memory_server.ports.breaker import Breaker
from memory_server.ports.clock import Clock, Ids
from memory_server.ports.deployment import DeploymentRecords
from memory_server.ports.embedder import Embedder
from memory_server.ports.store import Store
from memory_server.services.administration import Administration
from memory_server.services.archiving import Archiving
from memory_server.services.blocks import BlockKeeping
from memory_server.services.context import ContextBuilding
from memory_server.services.custom_types import CustomTypes
from memory_server.services.executions import ExecutionKeeping
from memory_server.services.identity import Identity
from memory_server.services.invocation import Invocation
from memory_server.services.members import MemberKeeping
from memory_server.services.memories import MemoryKeeping
from memory_server.services.projects import ProjectKeeping
from memory_server.services.promotion import Promotion
from memory_server.services.proposals import Reviewing
from memory_server.services.readiness import Background, ReadinessOfServer
from memory_server.services.reembedding import Reembedding
from memory_server.services.search import Retrieval
from memory_server.services.servers import Presence
from memory_server.services.service_accounts import ServiceAccounts
from memory_server.services.spending import SpendingKeeping
from memory_server.services.turns import TurnRecording
from memory_server.settings import ServerRole, Settings
from memory_server.worker.runner import Runner
from memory_server.worker.schedule import Schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class Lasting:
    """What goes on unchanged whatever configuration the services have."""

    owner_token: str = field(repr=False)
    identity: Identity
    service_accounts: ServiceAccounts
    projects: ProjectKeeping
    members: MemberKeeping
    executions: ExecutionKeeping
    presence: Presence
    standing: Schedule
    """Duties that go on as long as the server."""
    records: DeploymentRecords
    agent: Agent | None
    """One of the user's own; None: the built-in one, which has the models of each configuration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """Everything that serves, joined."""

    settings: Settings
    lasting: Lasting
    models: Models
    """Makes the models of a successor."""
    clock: Clock
    ids: Ids
    store: Store
    providers: Providers
    partitions: Partitions
    recording: TurnRecording
    keeping: MemoryKeeping
    retrieval: Retrieval
    custom_types: CustomTypes
    blocks: BlockKeeping
    context: ContextBuilding
    promotion: Promotion
    invocation: Invocation
    reviewing: Reviewing
    administration: Administration
    archiving: Archiving
    readiness: ReadinessOfServer
    breakers: Mapping[str, Breaker]
    """Of the providers, by what they are for: `embedding`, `extraction`."""
    spending: SpendingKeeping
    background: Background
    reembedding: Reembedding
    runner: Runner
    rebuilder: Runner
    """Works off re-embedding, which takes long, beside everything else."""
    schedule: Schedule

    @property
    def owner_token(self) -> str:
        """What proves that a caller owns the deployment."""
        return self.lasting.owner_token

    @property
    def identity(self) -> Identity:
        """Who a bearer token is of."""
        return self.lasting.identity

    @property
    def service_accounts(self) -> ServiceAccounts:
        """The identities of programs."""
        return self.lasting.service_accounts

    @property
    def projects(self) -> ProjectKeeping:
        """The projects of this server."""
        return self.lasting.projects

    @property
    def members(self) -> MemberKeeping:
        """The people of the projects."""
        return self.lasting.members

    @property
    def executions(self) -> ExecutionKeeping:
        """The invocations of agents."""
        return self.lasting.executions

    @property
    def presence(self) -> Presence:
        """The server among others."""
        return self.lasting.presence

    async def run(self, stopping: asyncio.Event) -> None:
        """Do the work of the server's role until told to stop, then end it in order.

        If it ends before, readiness says so, and why.
        """
        role = self.settings.role
        self.background.began(elsewhere=role is ServerRole.API)
        if role is not ServerRole.WORKER:
            await self.invocation.open()
        try:
            async with asyncio.TaskGroup() as tasks:
                if role is not ServerRole.API:
                    tasks.create_task(_unending(self.runner.run(), stopping))
                    tasks.create_task(_unending(self.rebuilder.run(), stopping))
                tasks.create_task(_unending(self.schedule.run(), stopping))
                await stopping.wait()
                self.schedule.stop()
                self.runner.stop()
                self.reembedding.stop()
                self.rebuilder.stop()
        except BaseException as error:
            self.background.ended(f"it ended with {type(error).__name__}: see the log")
            raise
        self.background.ended("it was told to stop")

    def shares(self, part: str, other: "Application") -> bool:
        """Whether the other uses the very same model for `embedding` or `extraction`.

        While re-embedding, that is the model whose vectors are being made.
        """
        mine, others = self.providers, other.providers
        if part == "embedding":
            return self.embedders[-1] is other.embedders[-1]
        return mine.extractor is others.extractor

    @property
    def embedders(self) -> Sequence[Embedder]:
        """The embedding models in use: one, or two while re-embedding."""
        target = self.providers.target
        return [self.providers.embedder] + ([] if target is None else [target])

    async def let_go(self, successor: "Application | None" = None) -> None:
        """Let go of the models that the successor does not use."""
        kept = [] if successor is None else successor.embedders
        for embedder in self.embedders:
            if not any(embedder is one for one in kept):
                await embedder.close()
        if successor is None or self.providers.reranker is not successor.providers.reranker:
            await self.providers.reranker.close()
        if successor is None or not self.shares("extraction", successor):
            await self.providers.extractor.close()

    async def close(self) -> None:
        """Let the agent, the store and the models go."""
        await self.invocation.close()
        await self.let_go()
        await self.store.close()


async def _unending(work: Coroutine[Any, Any, None], stopping: asyncio.Event) -> None:
    """Do work that has no end of its own; one that it comes to all the same is an error."""
    await work
    if not stopping.is_set():
        raise RuntimeError("background work came to an end that nobody asked for")
