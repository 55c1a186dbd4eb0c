"""What every keeper of the configuration promises. Each one's test module runs the whole class."""

import asyncio
from datetime import timedelta
from typing import Any

from memory_server.domain.deployment import AppliedConfig, StoredConfig
from memory_server.ports.deployment import DeploymentRecords
from tests.clock import START

LATER = START + timedelta(minutes=2)
DOCUMENT = {"log_level": "debug", "metadata_partition_index": {"a.b$c": ["both"], "": []}}


def a_stored_config(**changes: Any) -> StoredConfig:
    """Return a configuration that waits to be applied."""
    values: dict[str, Any] = {"document": DOCUMENT, "digest": "d1", "at": START}
    return StoredConfig(**values | changes)


def an_applied_config(**changes: Any) -> AppliedConfig:
    """Return a configuration that is in effect."""
    values: dict[str, Any] = {"document": DOCUMENT, "digest": "d1", "at": START}
    values["local_models"] = True
    return AppliedConfig(**values | changes)


class DeploymentContract:
    """A subclass provides the fixture `records`, empty."""

    async def test_nothing_is_configured_at_first(self, records: DeploymentRecords) -> None:
        assert (await records.stored(), await records.applied()) == (None, None)
        assert await records.secrets() == {}

    async def test_what_was_stored_last_is_there_whole(self, records: DeploymentRecords) -> None:
        await records.store(a_stored_config(digest="d0"))
        await records.store(a_stored_config())

        assert await records.stored() == a_stored_config()
        assert await records.applied() is None

    async def test_what_was_applied_last_is_there_whole(self, records: DeploymentRecords) -> None:
        await records.claim("a", now=START, until=LATER)
        await records.note_applied(an_applied_config(), by="a")

        assert await records.applied() == an_applied_config()
        assert await records.stored() is None

    async def test_a_claim_may_be_claimed_again_and_given_up(
        self, records: DeploymentRecords
    ) -> None:
        claims = [await records.claim("a", now=START, until=LATER) for _ in range(2)]
        await records.let_go("a")
        await records.let_go("a")

        assert claims == [None, None]
        assert await records.claim("b", now=START, until=LATER) is None


async def claims_at_once(records: DeploymentRecords, *, servers: int) -> list[str | None]:
    """Let several servers claim at the same moment."""
    return await asyncio.gather(
        *(records.claim(f"server {n}", now=START, until=LATER) for n in range(servers))
    )
