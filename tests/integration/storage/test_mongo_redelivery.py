"""A job that is handed out twice does no harm in a database of several servers either."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memory_server.application import Application
from memory_server.ports.store import Store
from tests.clock import ManualClock
from tests.integration.storage.mongo_stores import OnMongo
from tests.unit.memory_server.api.application import an_application
from tests.unit.memory_server.worker import test_redelivery as suite


class TestRedelivery(OnMongo):
    @pytest.fixture
    async def application(
        self, tmp_path: Path, clock: ManualClock, store: Store
    ) -> AsyncIterator[Application]:
        joined = an_application(tmp_path, clock, store=store, extraction={"enabled": ["semantic"]})
        yield joined
        await joined.let_go()

    test_after = staticmethod(
        suite.test_a_worker_paused_past_its_lease_changes_nothing_after_the_other
    )
    test_before = staticmethod(
        suite.test_a_worker_paused_past_its_lease_is_in_nobodys_way_before_the_other
    )
