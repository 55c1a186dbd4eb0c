"""Services that are replaced by others while they serve."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory_server.application import Application
from memory_server.bootstrap import succeed
from memory_server.domain.deployment import Applied, ApplyRequest
from memory_server.domain.job import JobState
from memory_server.domain.turn import Role
from memory_server.errors import (
    ApplyInProgress,
    EmbeddingSpaceChanged,
    KeyRejected,
    ManagedElsewhere,
    NothingStored,
    ProviderKeyMissing,
    ProviderUnavailable,
    RollFailed,
    StorageError,
)
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.services.deployment import Deployment
from memory_server.services.readiness import Readiness
from memory_server.services.turns import TurnInput
from memory_server.settings import ConfigSource, Settings
from memory_server.storage.files import DeploymentDirectory
from tests.clock import ManualClock
from tests.factories import a_scope
from tests.unit.memory_server.api.application import CONFIG, FakeModels, an_application

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


@pytest.fixture
def models() -> FakeModels:
    return FakeModels()


@pytest.fixture
def first(tmp_path: Path, clock: ManualClock, models: FakeModels) -> Application:
    return an_application(tmp_path, clock, models)


@pytest.fixture
def make(first: Application, tmp_path: Path, clock: ManualClock) -> Make:
    """Deploy the first services; `changes` are of what the environment gave."""

    def made(changes: Mapping[str, Any] | None = None, **options: Any) -> Deployed:
        return Deployment(
            first,
            base=replace(first.settings, **(changes or {})),
            succeed=options.pop("succeed", succeed),
            store=first.store,
            files=DeploymentDirectory(tmp_path),
            clock=clock,
            **options,
        )

    return made


@pytest.fixture
async def deployed(make: Make, first: Application) -> AsyncIterator[Deployed]:
    """Services at work."""
    await first.store.open()
    deployment = make()
    deployment.begin()
    yield deployment
    await deployment.end()
    await deployment.current.close()


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
    if deployment._leaving:
        await asyncio.wait(deployment._leaving)


async def holding_back(deployment: Deployed) -> None:
    """Return once new requests have to wait."""
    while deployment._open.is_set():  # noqa: ASYNC110 nothing tells of it
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


async def test_services_that_do_not_become_ready_are_dropped_and_the_old_serve_on(
    deployed: Deployed, first: Application, models: FakeModels, tmp_path: Path
) -> None:
    models.failure = KeyRejected("the provider rejected the key")
    await deployed.store_config(OTHER_MODEL)

    with pytest.raises(RollFailed, match=r"embedding: the provider rejected the key.*serve on"):
        await apply(deployed)

    assert deployed.current is first
    assert first.background.state == "running"
    assert not (tmp_path / "configuration.applied.json").exists()
    assert (await deployed.config()).pending
    assert deployed.last_apply is not None
    assert deployed.last_apply.outcome == "failed"


async def test_a_model_that_fails_already_holds_up_no_other_change(
    deployed: Deployed, first: Application
) -> None:
    embedder(first).failure = ProviderUnavailable("the provider is away")
    await deployed.store_config(LOUD)

    applied = await apply(deployed)

    assert applied.applied
    assert applied.warnings == ["embedding: the provider is away"]


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
    assert deployed._rolling is not None
    await asyncio.wait({deployed._rolling})

    assert deployed.current is not first
    assert deployed.last_apply is not None
    assert deployed.last_apply.outcome == "applied"


async def test_a_dry_run_says_what_would_happen_and_changes_nothing(
    deployed: Deployed, first: Application, tmp_path: Path
) -> None:
    receipt = await deployed.store_config(LOUD)

    would = await apply(deployed, dry_run=True)

    assert (would.applied, would.digest) == (False, receipt.stored.digest)
    assert would.changes == ["memory.log_level: info (default) -> debug"]
    assert deployed.current is first
    assert not (tmp_path / "configuration.applied.json").exists()


async def test_without_a_stored_configuration_there_is_nothing_to_apply(
    deployed: Deployed,
) -> None:
    with pytest.raises(NothingStored, match="agentengine memory configure"):
        await apply(deployed)


async def test_services_that_run_the_stored_configuration_are_left_alone(
    deployed: Deployed,
) -> None:
    await deployed.store_config(LOUD)
    await apply(deployed)
    serving = deployed.current

    again = await apply(deployed)

    assert (again.applied, again.changes) == (False, [])
    assert deployed.current is serving


async def test_services_are_replaced_without_need_when_that_is_asked_for(
    deployed: Deployed,
) -> None:
    await deployed.store_config(LOUD)
    await apply(deployed)
    serving = deployed.current

    again = await apply(deployed, force=True)

    assert again.changes == ["the services are replaced because that was asked for"]
    assert deployed.current is not serving


async def test_a_changed_key_is_a_reason_to_replace_the_services_and_is_never_said(
    deployed: Deployed, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await deployed.store_config(LOUD)
    await apply(deployed)
    await deployed.put_secret("OPENAI_API_KEY", "tell-nobody", description=None)

    applied = await apply(deployed)

    assert applied.changes == ["OPENAI_API_KEY was set"]
    assert deployed.current.settings.secrets == {"OPENAI_API_KEY": "tell-nobody"}
    assert "tell-nobody" not in caplog.text + repr(applied) + repr(deployed.current.settings)


async def test_a_provider_without_a_key_is_refused_before_anything_is_changed(
    deployed: Deployed, first: Application
) -> None:
    await deployed.store_config(HOSTED)

    with pytest.raises(ProviderKeyMissing, match=r"nothing was changed.*VOYAGE_API_KEY"):
        await apply(deployed)

    assert deployed.current is first


async def test_built_in_models_stand_in_for_hosted_ones_and_need_no_key(
    deployed: Deployed,
) -> None:
    await deployed.store_config(HOSTED)

    applied = await apply(deployed, local_models=True)

    assert "the built-in models take over" in applied.changes
    assert deployed.running.local_models


async def test_another_embedding_model_is_refused_while_the_store_holds_vectors(
    deployed: Deployed, first: Application
) -> None:
    await say(first)
    receipt = await deployed.store_config(OTHER_MODEL)

    with pytest.raises(EmbeddingSpaceChanged, match=r"bge.*-> wordllama.*1 vectors"):
        await apply(deployed)

    assert any("wordllama" in warning for warning in receipt.warnings)
    assert deployed.current is first


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


async def test_a_vector_written_meanwhile_keeps_the_embedding_model(
    deployed: Deployed, first: Application
) -> None:
    await deployed.store_config(OTHER_MODEL)
    begun = await deployed.pin(waits=True)
    applying = asyncio.create_task(apply(deployed))
    await holding_back(deployed)
    await say(begun.release)
    begun.end()

    with pytest.raises(EmbeddingSpaceChanged, match="meanwhile"):
        await applying
    assert deployed.current.settings == first.settings
    assert deployed.current.background.state == "running"
    assert not await is_closed(deployed.current)
    (await deployed.pin(waits=True)).end()


async def test_requests_that_do_not_end_keep_the_embedding_model(
    make: Make, first: Application
) -> None:
    await first.store.open()
    deployment = make(quiet_seconds=0)
    deployment.begin()
    await deployment.store_config(OTHER_MODEL)
    begun = await deployment.pin(waits=True)

    with pytest.raises(RollFailed, match="requests did not end"):
        await apply(deployment)

    begun.end()
    assert deployment.current is first
    assert first.background.state == "running"
    await deployment.end()
    await deployment.current.close()


@pytest.mark.parametrize("document", [LOUD, OTHER_MODEL], ids=["same model", "other model"])
async def test_a_configuration_that_cannot_be_noted_is_not_applied(
    deployed: Deployed, first: Application, tmp_path: Path, document: Mapping[str, Any]
) -> None:
    await deployed.store_config(document)
    (tmp_path / "configuration.applied.json").mkdir()
    (tmp_path / "configuration.applied.json" / "x").touch()

    with pytest.raises(StorageError, match=r"configuration\.applied\.json"):
        await deployed.apply(ApplyRequest())

    assert deployed.current.settings == first.settings
    assert deployed.current.background.state == "running"
    (tmp_path / "configuration.applied.json" / "x").unlink()
    (tmp_path / "configuration.applied.json").rmdir()


async def test_a_fault_of_the_program_leaves_the_old_services_serving(
    make: Make, first: Application
) -> None:
    def broken(settings: Settings, former: Application) -> Application:
        raise ZeroDivisionError

    await first.store.open()
    deployment = make(succeed=broken)
    deployment.begin()
    await deployment.store_config(LOUD)

    with pytest.raises(ZeroDivisionError):
        await apply(deployment)

    assert deployment.current is first
    assert deployment.last_apply is not None
    assert deployment.last_apply.error == "ZeroDivisionError: see the log"
    await deployment.end()
    await deployment.current.close()


async def test_what_was_delivered_cannot_be_replaced_over_http(
    make: Make, first: Application
) -> None:
    await first.store.open()
    deployment = make({"source": ConfigSource.DELIVERED})

    for call in (
        deployment.store_config(LOUD),
        apply(deployment),
        apply(deployment, dry_run=True),
        deployment.put_secret("OPENAI_API_KEY", "x", description=None),
        deployment.delete_secret("OPENAI_API_KEY"),
    ):
        with pytest.raises(ManagedElsewhere, match="agentengine"):
            await call
    await first.close()


async def test_an_end_amid_an_apply_ends_the_new_services_too(
    make: Make, first: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    await first.store.open()
    proving = asyncio.Event()
    joined: list[Application] = []

    def noting(settings: Settings, former: Application) -> Application:
        joined.append(succeed(settings, former))

        async def slow() -> None:
            proving.set()
            await asyncio.Event().wait()

        monkeypatch.setattr(joined[0].readiness, "probe", slow)
        return joined[0]

    deployment = make(succeed=noting)
    deployment.begin()
    await deployment.store_config(OTHER_MODEL)
    asking = asyncio.create_task(apply(deployment))
    await proving.wait()

    await deployment.end()

    await asyncio.wait({asking})
    assert asking.cancelled()
    assert await is_closed(joined[0])
    assert deployment.current is first
    await first.close()


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
