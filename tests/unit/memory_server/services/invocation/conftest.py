"""An agent behind a store in memory."""

from typing import Any

import pytest

from memory_server.domain.formats import FormatStyle
from memory_server.domain.partitions import Partitions
from memory_server.domain.project import Project
from memory_server.ports.store import Store
from memory_server.providers.agents.builtin import BuiltInAgent
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.providers.reranking.absent import NoReranker
from memory_server.services.agent_run import RunLimits
from memory_server.services.context import ContextBuilding
from memory_server.services.executions import ExecutionKeeping
from memory_server.services.invocation import Invocation
from memory_server.services.reranking import Reranking
from memory_server.services.search import Retrieval
from memory_server.services.turns import TurnRecording
from tests.clock import START, CountingIds, ManualClock
from tests.unit.memory_server.services.invocation.steps import LIMIT, SILENCE, Echo


@pytest.fixture
def answerer() -> Echo:
    return Echo()


@pytest.fixture
def executions(store: Store, clock: ManualClock, ids: CountingIds) -> ExecutionKeeping:
    return ExecutionKeeping(executions=store.executions, clock=clock, ids=ids)


@pytest.fixture
def project() -> dict[str, Any]:
    """The settings of the project, for tests to change."""
    return {}


@pytest.fixture
def invocation(
    store: Store,
    recording: TurnRecording,
    embedder: HashingEmbedder,
    ids: CountingIds,
    clock: ManualClock,
    executions: ExecutionKeeping,
    project: dict[str, Any],
    answerer: Echo,
) -> Invocation:
    async def project_of(project_id: str) -> Project:
        made = {"created_at": START, "updated_at": START}
        return Project(id=project_id, name="P", **made | project)

    return Invocation(
        recording=recording,
        turns=store.turns,
        context=ContextBuilding(
            store=store,
            retrieval=Retrieval(store=store, embedder=embedder),
            reranking=Reranking(NoReranker("there is none")),
            partitions=Partitions(),
            default_style=FormatStyle.JINJA2,
        ),
        agent=BuiltInAgent(answerer),
        executions=executions,
        clock=clock,
        ids=ids,
        project_of=project_of,
        limits=RunLimits(whole=LIMIT, silence=SILENCE),
    )
