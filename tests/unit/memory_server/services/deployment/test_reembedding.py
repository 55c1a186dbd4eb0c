"""Another embedding model for a store that holds vectors."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from memory_server.application import Application
from memory_server.bootstrap import succeed
from memory_server.domain.chunk import RetrievalMode, Source
from memory_server.domain.embedding import Embedded, Purpose
from memory_server.domain.spaces import SpacesInUse
from memory_server.errors import ProviderUnavailable, RollFailed
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.services.deployment import Deployment
from memory_server.services.search import SearchRequest
from memory_server.storage.files import DeploymentDirectory
from tests.clock import ManualClock
from tests.factories import a_scope
from tests.unit.memory_server.api.application import CONFIG, FakeModels, an_application
from tests.unit.memory_server.services.deployment.steps import (
    OTHER_MODEL,
    Deployed,
    apply,
    embedder,
    say,
    settled,
)

OLD, NEW = "bge-small-en-v1.5@384", "wordllama@256"
SAID = ["I live in Oslo.", "My dog eats fish.", "The train leaves at nine.", "Oslo is cold."]
GRACE = 61


class Held(HashingEmbedder):
    """A model whose documents wait until they are let through."""

    let: asyncio.Event

    async def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Embedded:
        if purpose is Purpose.DOCUMENT:
            await Held.let.wait()
        return await super().embed(texts, purpose=purpose)


@pytest.fixture
def held(models: FakeModels) -> asyncio.Event:
    """Hold back the vectors of the next model until the event is set."""
    Held.let = asyncio.Event()
    models.kind = Held
    return Held.let


async def talk(application: Application, sentences: Sequence[str] = tuple(SAID)) -> None:
    for sentence in sentences:
        await say(application, sentence)


async def answers(application: Application, query: str = "Where do I live?") -> list[object]:
    """Return what a search finds by meaning, with the scores."""
    request = SearchRequest(
        scope=a_scope(),
        source=Source.STM,
        query=query,
        top_k=9,
        mode=RetrievalMode.SEMANTIC,
    )
    found = await application.retrieval.search(request)
    return [(chunk.content, round(chunk.score or 0.0, 6)) for chunk in found.chunks]


async def spaces(deployment: Deployed) -> SpacesInUse:
    return await deployment.current.store.spaces.look()


async def switched(deployment: Deployed) -> None:
    """Return once the other model answers, everywhere."""
    while (await spaces(deployment)).target is not None:  # noqa: ASYNC110 nothing tells of it
        await asyncio.sleep(0)
    await deployment.attune()


async def reembed(deployment: Deployed) -> None:
    await deployment.store_config(OTHER_MODEL)
    await apply(deployment, reembed=True)


async def report(deployment: Deployed) -> dict[str, object]:
    return dict((await deployment.current.readiness.look()).reembedding)


async def test_the_former_model_answers_until_all_vectors_are_made(
    deployed: Deployed, first: Application, held: asyncio.Event
) -> None:
    await talk(first)
    before = await answers(first)

    await reembed(deployed)
    meanwhile = await answers(deployed.current)
    told = await report(deployed)
    held.set()
    await switched(deployed)

    assert meanwhile == before
    assert (told["state"], told["from"], told["to"]) == ("running", OLD, NEW)
    assert (told["done"], told["total"]) == (0, 4)
    assert embedder(deployed.current).space.name == NEW
    assert await answers(deployed.current) != before


async def test_afterwards_a_search_answers_as_in_a_store_built_with_the_new_model(
    deployed: Deployed, first: Application, tmp_path: Path, clock: ManualClock
) -> None:
    await talk(first)

    await reembed(deployed)
    await switched(deployed)

    (tmp_path / "fresh").mkdir()
    fresh = an_application(tmp_path / "fresh", clock, **OTHER_MODEL)
    await fresh.store.open()
    await talk(fresh)
    assert await answers(deployed.current) == await answers(fresh)
    await fresh.close()


async def test_what_is_written_meanwhile_is_found_before_and_after_the_switch(
    deployed: Deployed, first: Application, held: asyncio.Event
) -> None:
    await talk(first)
    await reembed(deployed)

    await talk(deployed.current, ["My cat is called Leo."])
    found = await answers(deployed.current, "cat")
    held.set()
    await switched(deployed)

    assert "Leo" in str(found[0])
    assert "Leo" in str((await answers(deployed.current, "cat"))[0])
    assert len(await answers(deployed.current)) == 5


async def test_the_vectors_of_the_former_model_are_removed_a_while_after_the_switch(
    deployed: Deployed, first: Application, clock: ManualClock
) -> None:
    await talk(first)
    await reembed(deployed)
    await switched(deployed)

    await deployed.current.reembedding.tend()
    kept = dict((await spaces(deployed)).vectors)
    clock.advance(GRACE)
    await deployed.current.reembedding.tend()

    assert kept == {OLD: 4, NEW: 4}
    assert dict((await spaces(deployed)).vectors) == {NEW: 4}
    assert await report(deployed) == {}


async def test_what_a_request_still_writes_with_the_former_model_is_not_lost(
    deployed: Deployed, first: Application, clock: ManualClock
) -> None:
    await talk(first)
    pin = await deployed.pin(waits=True)
    await reembed(deployed)
    await switched(deployed)

    await talk(pin.release, ["A late word of penguins."])
    pin.end()
    clock.advance(GRACE)
    await deployed.current.reembedding.tend()

    assert dict((await spaces(deployed)).vectors) == {NEW: 5}
    assert "penguins" in str((await answers(deployed.current, "penguins"))[0])


async def test_a_changed_mind_gives_the_work_up_and_removes_what_was_made(
    deployed: Deployed, first: Application, held: asyncio.Event, clock: ManualClock
) -> None:
    await talk(first)
    before = await answers(first)
    await deployed.store_config(OTHER_MODEL)
    await apply(deployed, reembed=True)
    await deployed.store_config(CONFIG)

    back = await apply(deployed)

    held.set()
    await settled(deployed)
    clock.advance(GRACE)
    await deployed.current.reembedding.tend()
    assert f"the re-embedding to {NEW} is given up" in back.changes
    assert dict((await spaces(deployed)).vectors) == {OLD: 4}
    assert (await spaces(deployed)).target is None
    assert await answers(deployed.current) == before


async def test_a_model_that_does_not_answer_is_not_begun_with(
    deployed: Deployed, first: Application, models: FakeModels
) -> None:
    await talk(first)
    models.failure = ProviderUnavailable("down")
    await deployed.store_config(OTHER_MODEL)

    with pytest.raises(RollFailed, match="down"):
        await apply(deployed, reembed=True)

    assert deployed.current is first
    assert (await spaces(deployed)).target is None


async def test_what_was_said_while_the_former_model_was_away_is_found_by_the_new_one(
    deployed: Deployed, first: Application
) -> None:
    await talk(first)
    embedder(first).failure = ProviderUnavailable("gone for good")
    await talk(first, ["My cat is called Leo."])

    await reembed(deployed)
    await switched(deployed)

    assert "Leo" in str((await answers(deployed.current, "cat"))[0])


async def test_a_provider_that_goes_away_is_waited_for(
    deployed: Deployed, first: Application, held: asyncio.Event, clock: ManualClock
) -> None:
    await talk(first)
    await reembed(deployed)
    target = deployed.current.providers.target
    assert isinstance(target, HashingEmbedder)
    target.failure = ProviderUnavailable("the model is away")
    held.set()
    while (await report(deployed))["problem"] is None:  # noqa: ASYNC110 nothing tells of it
        await asyncio.sleep(0)

    look = await deployed.current.readiness.look()
    target.failure = None
    while (await spaces(deployed)).target is not None:
        clock.advance(1)
        await deployed.current.store.jobs.counts()

    assert look.status == "ready"
    assert look.reembedding["problem"] == "the model is away"


async def test_a_former_model_that_is_gone_leaves_the_words_until_the_switch(
    deployed: Deployed, first: Application, held: asyncio.Event
) -> None:
    await talk(first)
    await reembed(deployed)
    embedder(deployed.current).failure = ProviderUnavailable("no such model any more")
    await deployed.current.readiness.probe()

    look = await deployed.current.readiness.look()
    held.set()
    await switched(deployed)

    assert look.status == "ready"
    assert "no such model any more" in str(look.reembedding["meaning"])
    assert len(await answers(deployed.current)) == 4


async def test_an_empty_store_takes_any_model_at_once(deployed: Deployed) -> None:
    await reembed(deployed)

    found = await spaces(deployed)
    assert (found.active and found.active.space, found.target) == (NEW, None)
    assert await report(deployed) == {}


async def test_asked_again_it_goes_on_and_begins_nothing_new(
    deployed: Deployed, first: Application, held: asyncio.Event
) -> None:
    await talk(first)
    await reembed(deployed)
    before = await spaces(deployed)

    again = await apply(deployed, reembed=True)
    once_more = await deployed.reembed()

    assert (again.applied, once_more.applied) == (False, False)
    assert (await spaces(deployed)).revision == before.revision
    held.set()
    await switched(deployed)


async def test_a_process_with_another_model_answers_with_the_one_of_the_vectors(
    deployed: Deployed, first: Application, tmp_path: Path, clock: ManualClock, models: FakeModels
) -> None:
    await talk(first)
    before = await answers(first)

    other = an_application(tmp_path, clock, models, first.store, **OTHER_MODEL)
    started = Deployment(
        other,
        base=other.settings,
        succeed=succeed,
        store=other.store,
        records=DeploymentDirectory(tmp_path),
        presence=other.presence,
        clock=clock,
    )
    await started.prepare()

    assert await answers(started.current) == before
    told = dict((await started.current.readiness.look()).reembedding)
    assert (told["state"], told["to"]) == ("needed", NEW)
    assert "agentengine memory reembed" in str(told["problem"])


async def test_work_that_was_cut_off_goes_on_where_it_was(
    deployed: Deployed, first: Application, tmp_path: Path, clock: ManualClock
) -> None:
    await talk(first)
    await reembed(deployed)
    await deployed.end()
    await first.store.take_over()

    again = succeed(deployed.current.settings, deployed.current)
    while (await first.store.spaces.look()).target is not None:
        await again.rebuilder.run_until_idle()
        clock.advance(1)

    assert dict((await first.store.spaces.look()).vectors)[NEW] == 4


async def test_turns_are_embedded_as_a_promotion_would_have_embedded_them(
    tmp_path: Path, clock: ManualClock
) -> None:
    """With the one they answer, where both were promoted together."""
    late = {"short_term": {"embed_on_write": False}}
    found = []
    for name, memory in (("old", late), ("new", late | {"embedding": OTHER_MODEL["embedding"]})):
        (tmp_path / name).mkdir()
        application = an_application(tmp_path / name, clock, **memory)
        await application.store.open()
        for sentences in (SAID[:3], SAID[3:]):
            await talk(application, sentences)
            await application.promotion.flush(a_scope().project_id)
        found.append(application)
    old, fresh = found

    wanted = fresh.settings.embedding
    await old.store.spaces.declare(old.settings.embedding, now=clock.now())
    await old.reembedding.begin(wanted)
    moved = succeed(replace(fresh.settings, answers=old.settings.embedding, target=wanted), old)
    await moved.rebuilder.run_until_idle()
    afterwards = succeed(fresh.settings, moved)

    assert await answers(afterwards) == await answers(fresh)
    assert len(await answers(fresh)) == 4
    await afterwards.close()
    await fresh.close()
