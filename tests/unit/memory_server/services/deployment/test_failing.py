"""Applies that come to nothing: the services before serve on."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from memory_server.application import Application
from memory_server.bootstrap import succeed
from memory_server.domain.deployment import ApplyRequest
from memory_server.errors import (
    EmbeddingSpaceChanged,
    KeyRejected,
    ProviderUnavailable,
    RollFailed,
    StorageError,
)
from memory_server.settings import Settings
from tests.unit.memory_server.api.application import FakeModels
from tests.unit.memory_server.services.deployment.steps import (
    LOUD,
    OTHER_MODEL,
    Deployed,
    Make,
    apply,
    embedder,
    holding_back,
    is_closed,
    say,
)


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
    assert deployed.applies.last is not None
    assert deployed.applies.last.outcome == "failed"


async def test_a_model_that_fails_already_holds_up_no_other_change(
    deployed: Deployed, first: Application
) -> None:
    embedder(first).failure = ProviderUnavailable("the provider is away")
    await deployed.store_config(LOUD)

    applied = await apply(deployed)

    assert applied.applied
    assert applied.warnings == ["embedding: the provider is away"]


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
    assert deployment.applies.last is not None
    assert deployment.applies.last.error == "ZeroDivisionError: see the log"
    await deployment.end()
    await deployment.current.close()


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
