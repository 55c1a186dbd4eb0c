"""The configuration of several servers, in their database."""

import uuid
from collections.abc import AsyncIterator

import pytest

from memory_server.domain.deployment import Secret
from memory_server.errors import ApplyInProgress, SecretNotServed, StorageCorrupt
from memory_server.ports.deployment import DeploymentRecords
from memory_server.storage.mongo.collections import DEPLOYMENT
from memory_server.storage.mongo.database import MongoDatabase
from memory_server.storage.mongo.deployment import MongoDeployment
from tests.clock import START
from tests.conformance.deployment import (
    LATER,
    DeploymentContract,
    a_stored_config,
    an_applied_config,
    claims_at_once,
)


@pytest.fixture
async def database(mongodb: str) -> AsyncIterator[MongoDatabase]:
    database = MongoDatabase(mongodb, f"memory_test_{uuid.uuid4().hex[:16]}")
    await database.open()
    yield database
    await database.client.drop_database(database.name)
    await database.close()


@pytest.fixture
def records(database: MongoDatabase) -> DeploymentRecords:
    return MongoDeployment(database)


class TestDeployment(DeploymentContract):
    pass


async def test_one_server_at_a_time_applies(records: DeploymentRecords) -> None:
    outcomes = await claims_at_once(records, servers=5)

    assert outcomes.count(None) == 1
    winner = f"server {outcomes.index(None)}"
    assert {one for one in outcomes if one is not None} == {winner}


async def test_a_claim_ends_by_itself_and_is_lost_then(records: DeploymentRecords) -> None:
    await records.claim("paused", now=START, until=LATER)
    assert await records.claim("b", now=START, until=LATER) == "paused"

    assert await records.claim("b", now=LATER, until=LATER) is None
    with pytest.raises(ApplyInProgress, match="nothing was changed"):
        await records.note_applied(an_applied_config(), by="paused")
    await records.let_go("paused")
    await records.note_applied(an_applied_config(), by="b")

    assert await records.applied() == an_applied_config()


async def test_a_secret_is_refused_with_where_it_belongs_and_never_stored(
    records: DeploymentRecords, database: MongoDatabase
) -> None:
    secret = Secret(
        name="OPENAI_API_KEY",
        value="tell-nobody",
        description="",
        version=1,
        created_at=START,
        updated_at=START,
    )
    await records.store(a_stored_config())

    with pytest.raises(SecretNotServed, match="environment of every server") as refused:
        await records.keep_secrets({secret.name: secret})

    kept = await database[DEPLOYMENT].find().to_list()
    assert "tell-nobody" not in f"{refused.value} {kept}"
    assert await records.secrets() == {}


async def test_a_damaged_configuration_is_told_without_its_content(
    records: DeploymentRecords, database: MongoDatabase
) -> None:
    await records.store(a_stored_config())
    await database[DEPLOYMENT].update_one({}, {"$set": {"stored.document": "{secret"}})

    with pytest.raises(StorageCorrupt, match="damaged") as told:
        await records.stored()

    assert "secret" not in str(told.value)
