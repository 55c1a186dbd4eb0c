"""What is sent to a deployment, to the last field, and what one without Atlas Search answers."""

from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
from pymongo import AsyncMongoClient
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.errors import OperationFailure
from pymongo.monitoring import (
    CommandFailedEvent,
    CommandListener,
    CommandStartedEvent,
    CommandSucceededEvent,
)
from pymongo.operations import SearchIndexModel
from pymongo.read_concern import ReadConcern

from memory_server.search.atlas.definitions import NAMES, Leg, Wanted, definition
from memory_server.search.atlas.deployment import run
from memory_server.search.atlas.probe import has_search

Row = dict[str, Any]
OF_THE_DRIVER = {"lsid", "$db", "$clusterTime", "txnNumber", "$readPreference", "cursor"}


class Heard(CommandListener):
    """Keeps the commands that were sent."""

    def __init__(self) -> None:
        self.commands: list[Row] = []

    def started(self, event: CommandStartedEvent) -> None:
        self.commands.append(dict(event.command))

    def succeeded(self, event: CommandSucceededEvent) -> None:
        """Hear nothing: what is sent counts."""

    def failed(self, event: CommandFailedEvent) -> None:
        """Hear nothing: what is sent counts."""

    @property
    def last(self) -> Row:
        """The last command, without what the driver adds to each."""
        return {name: told for name, told in self.commands[-1].items() if name not in OF_THE_DRIVER}


class Deployment:
    """A deployment without Atlas Search, as `MongoDatabase` uses one."""

    def __init__(self, client: AsyncMongoClient[Row], heard: Heard) -> None:
        self._database = client.get_database("memory_test", read_concern=ReadConcern("majority"))
        self.heard = heard

    def __getitem__(self, collection: str) -> AsyncCollection[Row]:
        return self._database[collection]

    def translated(self) -> AbstractContextManager[None]:
        return nullcontext()


@pytest.fixture
async def deployment(mongodb: str) -> AsyncIterator[Deployment]:
    heard = Heard()
    async with AsyncMongoClient[Row](mongodb, event_listeners=[heard]) as client:
        yield Deployment(client, heard)


async def test_a_deployment_without_atlas_search_is_known_by_its_answer(
    deployment: Deployment,
) -> None:
    assert await has_search(deployment["memory_turns"]) is False

    assert deployment.heard.last == {
        "aggregate": "memory_turns",
        "pipeline": [{"$listSearchIndexes": {}}],
    }


async def test_a_pipeline_is_sent_as_it_is_and_without_a_read_concern(
    deployment: Deployment,
) -> None:
    pipeline: list[Row] = [{"$search": {"index": NAMES[Leg.TEXT]}}, {"$limit": 3}]

    with pytest.raises(OperationFailure):
        await run(deployment["memory_turns"], pipeline)

    assert deployment.heard.last == {"aggregate": "memory_turns", "pipeline": pipeline}


@pytest.mark.parametrize(("leg", "kind"), [(Leg.TEXT, "search"), (Leg.VECTOR, "vectorSearch")])
async def test_an_index_is_made_by_its_name_type_and_definition(
    deployment: Deployment, leg: Leg, kind: str
) -> None:
    made = definition(Leg.TEXT, Wanted())
    assert made is not None

    with pytest.raises(OperationFailure):
        await deployment["memory_turns"].create_search_index(
            SearchIndexModel(made, NAMES[leg], leg.value)
        )

    assert deployment.heard.last == {
        "createSearchIndexes": "memory_turns",
        "indexes": [{"definition": made, "name": NAMES[leg], "type": kind}],
    }


async def test_an_index_is_added_to_by_its_whole_definition(deployment: Deployment) -> None:
    made = definition(Leg.TEXT, Wanted())
    assert made is not None

    with pytest.raises(OperationFailure):
        await deployment["memory_turns"].update_search_index(NAMES[Leg.TEXT], made)

    assert deployment.heard.last == {
        "updateSearchIndex": "memory_turns",
        "name": "agentengine_text",
        "definition": made,
    }
