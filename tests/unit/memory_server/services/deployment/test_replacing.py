"""Services that are replaced by others while they serve."""

import asyncio

import pytest

from memory_server.application import Application
from memory_server.domain.deployment import Applied
from memory_server.domain.job import JobState
from memory_server.errors import ApplyInProgress
from memory_server.services.readiness import Readiness
from memory_server.settings import ConfigSource, Settings
from tests.unit.memory_server.services.deployment.steps import (
    LOUD,
    OTHER_MODEL,
    SAME_SPACE,
    Deployed,
    Make,
    apply,
    embedder,
    holding_back,
    is_closed,
    say,
    settled,
    work_ended,
    worked_off,
)


async def test_an_apply_lets_services_with_the_stored_configuration_serve(
    deployed: Deployed, first: Application
) -> None:
    await deployed.store_config(LOUD)

    applied = await apply(deployed)

    assert (applied.applied, applied.changes) == (
        True,
        ["memory.log_level: info (default) -> debug"],
    )
    assert deployed.current is not first
    assert deployed.current.settings.memory.log_level == "debug"
    assert deployed.running.source is ConfigSource.APPLIED
    assert not (await deployed.config()).pending


async def test_new_services_are_ready_from_their_first_moment_on(deployed: Deployed) -> None:
    await deployed.store_config(LOUD)
    await apply(deployed)

    assert (await deployed.current.readiness.look()).status == "ready"


async def test_readiness_tells_of_the_services_that_serve_by_then(
    deployed: Deployed, first: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    await deployed.store_config(LOUD)
    look = first.readiness.look

    async def slow() -> Readiness:
        await apply(deployed)
        await settled(deployed)
        return await look()

    monkeypatch.setattr(first.readiness, "look", slow)

    release, found = await deployed.look()

    assert (await look()).status == "blocked"
    assert (release, found.status) == (deployed.current, "ready")


async def test_a_request_ends_on_the_services_it_began_on(
    deployed: Deployed, first: Application
) -> None:
    await deployed.store_config(LOUD)
    begun = await deployed.pin(waits=True)

    await apply(deployed)
    later = await deployed.pin(waits=True)

    assert (begun.release, later.release) == (first, deployed.current)


async def test_a_model_that_stays_the_same_is_used_again(
    deployed: Deployed, first: Application
) -> None:
    await deployed.store_config(LOUD)

    await apply(deployed)
    await settled(deployed)

    assert embedder(deployed.current) is embedder(first)
    assert not await is_closed(first)


async def test_a_model_is_let_go_when_the_last_request_that_uses_it_has_ended(
    make: Make, first: Application
) -> None:
    await first.store.open()
    deployment = make({"secrets": {"OPENAI_API_KEY": "k"}})
    deployment.begin()
    await deployment.store_config(SAME_SPACE)
    begun = await deployment.pin(waits=True)

    await apply(deployment)
    await work_ended(first)

    assert not await is_closed(first)
    begun.end()
    await settled(deployment)
    assert await is_closed(first)
    assert not await is_closed(deployment.current)
    await deployment.end()
    await deployment.current.close()


async def test_a_model_shared_along_a_chain_outlives_the_oldest_request(
    make: Make, first: Application
) -> None:
    await first.store.open()
    deployment = make({"secrets": {"OPENAI_API_KEY": "k"}})
    deployment.begin()
    oldest = await deployment.pin(waits=True)
    await deployment.store_config(LOUD)
    await apply(deployment)
    second = deployment.current
    await deployment.store_config(SAME_SPACE)
    await apply(deployment)
    await work_ended(second)

    assert embedder(second) is embedder(first)
    assert not await is_closed(first)
    oldest.end()
    await settled(deployment)
    assert await is_closed(first)
    await deployment.end()
    await deployment.current.close()


async def test_background_work_goes_over_to_the_new_services(
    deployed: Deployed, first: Application
) -> None:
    await deployed.store_config(LOUD)
    await apply(deployed)
    await settled(deployed)

    assert first.background.state == "stopped"
    assert deployed.current.background.state == "running"


async def test_a_job_that_is_cut_off_is_put_back_and_done_by_the_new_services(
    make: Make, first: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    await first.store.open()
    deployment = make(drain_seconds=0)
    at_work = asyncio.Event()

    async def never_ending(*_: object) -> None:
        at_work.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(first.providers.extractor, "extract", never_ending, raising=False)
    deployment.begin()
    await say(first)
    await first.promotion.flush("shop")
    await at_work.wait()
    await deployment.store_config(LOUD)
    monkeypatch.undo()

    await apply(deployment)
    await settled(deployment)
    await worked_off(deployment)

    jobs = await first.store.jobs.list("shop")
    assert {job.state for job in jobs} == {JobState.DONE}
    await deployment.end()
    await deployment.current.close()


async def test_of_two_applies_at_once_one_wins(deployed: Deployed) -> None:
    await deployed.store_config(LOUD)

    outcomes = await asyncio.gather(apply(deployed), apply(deployed), return_exceptions=True)

    assert [type(outcome) for outcome in outcomes] == [Applied, ApplyInProgress]


async def test_an_apply_goes_on_when_its_caller_leaves(
    deployed: Deployed, first: Application
) -> None:
    await deployed.store_config(LOUD)
    asking = asyncio.create_task(apply(deployed))
    await asyncio.sleep(0)
    asking.cancel()
    assert deployed.applies._working is not None
    await asyncio.wait({deployed.applies._working})

    assert deployed.current is not first
    assert deployed.applies.last is not None
    assert deployed.applies.last.outcome == "applied"


async def test_an_empty_store_takes_another_embedding_model_when_requests_have_ended(
    deployed: Deployed, first: Application
) -> None:
    await deployed.store_config(OTHER_MODEL)
    begun = await deployed.pin(waits=True)
    applying = asyncio.create_task(apply(deployed))
    await holding_back(deployed)
    held_back = asyncio.create_task(deployed.pin(waits=True))
    told = await deployed.pin(waits=False)
    assert told.release is first
    told.end()
    begun.end()

    assert (await applying).applied
    assert (await held_back).release is deployed.current


async def test_whoever_listens_is_told_the_settings_that_serve(
    make: Make, first: Application
) -> None:
    await first.store.open()
    told: list[tuple[str, str]] = []

    def listen(settings: Settings) -> None:
        told.append((settings.memory.log_level, deployment.current.background.state))

    deployment = make(on_switch=listen)
    deployment.begin()
    await deployment.store_config(LOUD)
    await apply(deployment)
    await deployment.end()
    await deployment.current.close()

    assert told == [("info", "starting"), ("debug", "running")]
