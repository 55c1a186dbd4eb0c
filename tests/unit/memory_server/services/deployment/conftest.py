"""Services that a deployment holds."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory_server.application import Application
from memory_server.bootstrap import succeed
from memory_server.services.deployment import Deployment
from memory_server.storage.files import DeploymentDirectory
from tests.clock import ManualClock
from tests.unit.memory_server.api.application import FakeModels, an_application
from tests.unit.memory_server.services.deployment.steps import Deployed, Make


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
            records=options.pop("records", DeploymentDirectory(tmp_path)),
            presence=first.presence,
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
