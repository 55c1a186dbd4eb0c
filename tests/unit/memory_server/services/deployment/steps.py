"""What the tests of a deployment do and look at."""

import asyncio
from collections.abc import Callable

from memory_server.application import Application
from memory_server.domain.deployment import Applied, ApplyRequest
from memory_server.domain.turn import Role
from memory_server.errors import ProviderUnavailable
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.services.deployment import Deployment
from memory_server.services.turns import TurnInput
from tests.factories import a_scope
from tests.unit.memory_server.api.application import CONFIG

LOUD = CONFIG | {"log_level": "debug"}
OTHER_MODEL = CONFIG | {"embedding": {"provider": "local", "model": "wordllama"}}
HOSTED = CONFIG | {"embedding": {"provider": "voyage"}}
SAME_SPACE = CONFIG | {
    "embedding": {
        "provider": "openai",
        "model": "bge-small-en-v1.5",
        "dimension": 384,
        "base_url": "http://localhost:9",
    }
}
"""Another way to the vectors of the same model."""
Deployed = Deployment[Application]
Make = Callable[..., Deployed]


def embedder(application: Application) -> HashingEmbedder:
    found = application.providers.embedder
    assert isinstance(found, HashingEmbedder)
    return found


async def is_closed(application: Application) -> bool:
    """Whether the services' embedding model was let go."""
    try:
        await embedder(application).check()
    except ProviderUnavailable:
        return True
    return False


async def settled(deployment: Deployed) -> None:
    """Return once whoever was replaced is gone."""
    if deployment._succession._leaving:
        await asyncio.wait(deployment._succession._leaving)


async def holding_back(deployment: Deployed) -> None:
    """Return once new requests have to wait."""
    while deployment._succession._open.is_set():  # noqa: ASYNC110 nothing tells of it
        await asyncio.sleep(0)


async def work_ended(application: Application) -> None:
    """Return when replaced services have stopped working, and a little later."""
    while application.background.state != "stopped":
        await application.store.jobs.counts()
    for _ in range(5):
        await application.store.jobs.counts()


async def worked_off(deployment: Deployed) -> None:
    """Return once no job waits or runs."""
    deployment.current.runner.wake()
    counts = await deployment.current.administration.counts()
    while counts.queued + counts.running:
        counts = await deployment.current.administration.counts()


async def apply(deployment: Deployed, **how: bool) -> Applied:
    return await deployment.apply(ApplyRequest(**how))


async def say(application: Application, content: str = "I live in Oslo.") -> None:
    turn = TurnInput(session_id="s", role=Role.USER, content=content)
    await application.recording.record(a_scope(), turn)
