"""What of an apply is refused, and what it would change, before anything is done."""

import logging
from pathlib import Path

import pytest

from memory_server.application import Application
from memory_server.errors import (
    EmbeddingSpaceChanged,
    ManagedElsewhere,
    NothingStored,
    ProviderKeyMissing,
)
from memory_server.settings import ConfigSource
from tests.unit.memory_server.services.deployment.steps import (
    HOSTED,
    LOUD,
    OTHER_MODEL,
    Deployed,
    Make,
    apply,
    say,
)


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
