"""A job that is handed out twice does no harm, whichever worker is slower."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memory_server.application import Application
from memory_server.bootstrap import succeed
from memory_server.domain.block import Message
from memory_server.domain.deployment_plan import fitting
from memory_server.domain.job import Job, JobKind, JobState
from memory_server.domain.memory import Fact
from memory_server.domain.scope import Scope
from memory_server.domain.turn import Role
from memory_server.errors import LeaseLost, ProviderUnavailable
from memory_server.ports.memories import MemoryQuery
from memory_server.project_config import EmbeddingConfig
from memory_server.services.block_drafts import Conversation
from memory_server.services.embedding import LateEmbedding
from memory_server.services.memories import SaveRequest
from memory_server.services.turns import TurnInput
from memory_server.worker.runner import Handler
from tests.clock import ManualClock
from tests.factories import a_scope
from tests.unit.memory_server.api.application import PROJECT, an_application
from tests.unit.memory_server.services.deployment.steps import embedder

LEASE = timedelta(seconds=60)
EVERYTHING = MemoryQuery(include_deleted=True, include_superseded=True)

Prepare = Callable[[Application], Awaitable[Application]]


async def an_extraction(application: Application) -> Application:
    """Let a snapshot wait to be understood."""
    turn = TurnInput(session_id="s", role=Role.USER, content="I live in Oslo.")
    await application.recording.record(a_scope(), turn)
    await application.promotion.flush(PROJECT)
    return application


async def an_embedding(application: Application) -> Application:
    """Let a memory wait for its vector."""
    embedder(application).failure = ProviderUnavailable()
    await application.keeping.save(a_scope(), SaveRequest(body=Fact(label="l", text="a fact")))
    embedder(application).failure = None
    late = LateEmbedding(
        store=application.store,
        embedder=application.providers.embedder,
        clock=application.clock,
        ids=application.ids,
    )
    await late.sweep(PROJECT)
    return application


async def a_reading(application: Application) -> Application:
    """Let an exchange wait for its summary and contexts."""
    said = Message(role=Role.USER, content="I live in Oslo.")
    given = Conversation(conversation_id="c", messages=[said], context_required=True)
    await application.blocks.record(a_scope(), given)
    return application


async def a_reembedding(application: Application) -> Application:
    """Let what has a vector wait for one of another model."""
    turn = TurnInput(session_id="s", role=Role.USER, content="I live in Oslo.")
    await application.recording.record(a_scope(), turn)
    store = application.store
    target = EmbeddingConfig(provider="local", model="wordllama", dimension=256)
    await application.reembedding.begin(target)
    return succeed(fitting(application.settings, await store.spaces.look()), application)


PREPARE: dict[JobKind, Prepare] = {
    JobKind.EXTRACT: an_extraction,
    JobKind.EMBED: an_embedding,
    JobKind.CONTEXT: a_reading,
    JobKind.REEMBED: a_reembedding,
}


async def prepared(application: Application, kind: JobKind) -> Application:
    """Let one job of a kind wait, and return the services that work it off."""
    now = application.clock.now()
    await application.store.spaces.declare(application.settings.embedding, now=now)
    return await PREPARE[kind](application)


@pytest.fixture
async def application(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Application]:
    joined = an_application(tmp_path, clock, extraction={"enabled": ["semantic"]})
    await joined.store.open()
    yield joined
    await joined.close()


async def claim(application: Application, kind: JobKind, worker: str) -> Job:
    now = application.clock.now()
    job = await application.store.jobs.claim(
        worker=worker, kinds=[kind], now=now, lease_until=now + LEASE
    )
    assert job is not None
    return job


def handler(serving: Application, kind: JobKind) -> Handler:
    """Return what works a kind off; what takes long has a runner of its own."""
    if kind is JobKind.REEMBED:
        return serving.reembedding.work_off
    return serving.runner._handlers[kind]


async def stored(application: Application) -> Any:
    """Return all that jobs could have changed."""
    store = application.store
    jobs = await store.jobs.list(PROJECT)
    return (
        await store.memories.find(Scope(project_id=PROJECT), EVERYTHING),
        (await store.spaces.look()).active,
        [(job.id, job.state, job.result) for job in jobs],
    )


def test_every_kind_has_its_case() -> None:
    assert PREPARE.keys() == set(JobKind)


@pytest.mark.parametrize("kind", JobKind)
async def test_a_worker_paused_past_its_lease_changes_nothing_after_the_other(
    application: Application, clock: ManualClock, kind: JobKind
) -> None:
    serving = await prepared(application, kind)
    work = handler(serving, kind)
    paused = await claim(serving, kind, "paused")
    clock.advance(by=LEASE)
    await work(await claim(serving, kind, "other"))
    done = await stored(serving)

    with pytest.raises(LeaseLost):
        await work(paused)

    assert await stored(serving) == done
    assert {state for _, state, _ in done[2]} == {JobState.DONE}


@pytest.mark.parametrize("kind", JobKind)
async def test_a_worker_paused_past_its_lease_is_in_nobodys_way_before_the_other(
    application: Application, clock: ManualClock, kind: JobKind
) -> None:
    serving = await prepared(application, kind)
    work = handler(serving, kind)
    paused = await claim(serving, kind, "paused")
    clock.advance(by=LEASE)
    other = await claim(serving, kind, "other")
    with pytest.raises(LeaseLost):
        await work(paused)

    await work(other)

    memories, answering, jobs = await stored(serving)
    assert {state for _, state, _ in jobs} == {JobState.DONE}
    assert [memory.has_embedding for memory in memories] == [True] * (kind is not JobKind.REEMBED)
    assert answering.model == ("wordllama" if kind is JobKind.REEMBED else "bge-small-en-v1.5")
