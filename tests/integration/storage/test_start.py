"""Which configuration a process starts with."""

from dataclasses import replace
from pathlib import Path

import pytest

from memory_server.domain.deployment import AppliedConfig
from memory_server.errors import InvalidProjectConfig
from memory_server.services.secrets import Secrets
from memory_server.settings import ConfigSource, Settings, from_environment
from memory_server.storage.files import DeploymentDirectory
from memory_server.storage.files.start import in_effect
from tests.clock import START, ManualClock

LOUD = {
    "log_level": "debug",
    "embedding": {"provider": "local"},
    "extraction_llm": {"provider": "local"},
}


async def configured(directory: Path, **changes: object) -> Settings:
    """Return the environment's settings where a configuration was applied and a secret set."""
    files = DeploymentDirectory(directory)
    values = {"document": LOUD, "digest": "d", "at": START, "local_models": False}
    await files.note_applied(AppliedConfig(**values | changes), by="a")  # type: ignore[arg-type]  # a test's values
    await Secrets(records=files, clock=ManualClock()).put("LLM_API_KEY", "kept")
    given = {"AGENTENGINE_DATA_DIR": str(directory), "LLM_API_KEY": "given", "VOYAGE_API_KEY": "v"}
    return from_environment(given)


async def test_what_was_applied_goes_before_what_is_built_in(tmp_path: Path) -> None:
    effective = in_effect(await configured(tmp_path))

    assert (effective.memory.log_level, effective.config_digest) == ("debug", "d")
    assert (effective.document, effective.source) == (LOUD, ConfigSource.APPLIED)
    assert effective.secrets == {"LLM_API_KEY": "kept", "VOYAGE_API_KEY": "v"}


async def test_what_was_delivered_goes_before_what_was_applied(tmp_path: Path) -> None:
    base = replace(await configured(tmp_path), source=ConfigSource.DELIVERED)

    assert in_effect(base) == base


async def test_nothing_applied_leaves_what_is_built_in_with_the_keys_that_were_set(
    tmp_path: Path,
) -> None:
    base = await configured(tmp_path)
    (tmp_path / "configuration.applied.json").unlink()

    effective = in_effect(base)

    assert (effective.source, effective.memory) == (ConfigSource.BUILT_IN, base.memory)
    assert effective.secrets["LLM_API_KEY"] == "kept"


@pytest.mark.parametrize(("applied", "given"), [(True, False), (False, True)])
async def test_built_in_models_stand_in_if_the_apply_or_the_environment_says_so(
    tmp_path: Path, *, applied: bool, given: bool
) -> None:
    base = replace(await configured(tmp_path, local_models=applied), local_models=given)

    assert in_effect(base).local_models


async def test_an_applied_configuration_that_is_valid_no_longer_is_told(tmp_path: Path) -> None:
    base = await configured(tmp_path, document={"log_level": "loud"})

    with pytest.raises(InvalidProjectConfig, match=r"applied\.json.*memory\.log_level"):
        in_effect(base)
