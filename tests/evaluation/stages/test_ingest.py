import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from evaluation.configurations import Configurations
from evaluation.errors import StoredDifferently, WorkFailed
from evaluation.pipelines import Ingested, Pipeline
from evaluation.pipelines.place import Place
from evaluation.stages.ingest import Ingestion
from evaluation.stages.survey import survey
from evaluation.workspace import Workspace
from memory_server.client import MemoryServerClient
from tests.evaluation.talk import MAY, a_conversation, a_dataset, a_question
from tests.evaluation.watching import Remembering

TWO = a_dataset(
    a_conversation("one"),
    a_conversation("two"),
    asked=[a_question(f"q-{name}", "?", conversation=name) for name in ("one", "two")],
)


@dataclass
class Storing:
    """A pipeline that remembers what it stored, and fails as it is told to."""

    failures: list[Exception] = field(default_factory=list)
    stored: list[str] = field(default_factory=list)
    name: str = "turns"
    stores: str = "turns"
    extracts: bool = False

    def searching(self) -> dict[str, Any]:
        return {}

    async def ingest(
        self, client: MemoryServerClient, place: Place, *, advance: Callable[[], None]
    ) -> Ingested:
        if self.failures:
            raise self.failures.pop(0)
        for _ in place.turns():
            advance()
        self.stored.append(place.user_id)
        return Ingested(stored={"turns": 7}, timing={"record": [1.0]})

    async def search(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


@dataclass
class Erasing:
    """A client that remembers whom it erased."""

    erased: list[str] = field(default_factory=list)

    async def erase(self, user_id: str) -> None:
        self.erased.append(user_id)


def an_ingestion(
    pipeline: Storing, workspace: Workspace, watcher: Remembering, **changes: Any
) -> Ingestion:
    given: dict[str, Any] = {
        "dataset": TWO,
        "survey": survey(TWO, workspace),
        "workspace": workspace,
        "configurations": Configurations(pipeline=cast(Pipeline, pipeline), server={}),
        "client": Erasing(),
        "watcher": watcher,
        "concurrency": 2,
    }
    return Ingestion(**given | changes)


async def test_conversation_that_is_stored_is_not_stored_again(
    workspace: Workspace, watcher: Remembering
) -> None:
    first, second = Storing(), Storing()

    assert await an_ingestion(first, workspace, watcher).run() == 2
    assert await an_ingestion(second, workspace, watcher).run() == 0

    assert len(set(first.stored)) == 2
    assert second.stored == []
    assert (watcher.stages["ingest"].total, watcher.stages["ingest"].done) == (28, 28)
    lines = (workspace.directory / "ingest.jsonl").read_text().splitlines()
    assert {json.loads(line)["conversation"] for line in lines} == {"one", "two"}


async def test_turns_that_say_nothing_are_no_work_and_no_part_of_an_exchange(
    workspace: Workspace, watcher: Remembering
) -> None:
    said = [
        ("first", "user", "I moved to Lisbon.", MAY),
        ("first", "assistant", " ", MAY),
        ("first", "user", "By the river.", MAY),
    ]
    silent = a_dataset(
        a_conversation("one", said=said), asked=[a_question("q", "?", conversation="one")]
    )
    more = {"dataset": silent, "survey": survey(silent, workspace)}

    await an_ingestion(Storing(), workspace, watcher, **more).run()

    assert (watcher.stages["ingest"].total, watcher.stages["ingest"].done) == (4, 4)
    [ingested] = workspace.ingests
    assert ingested.turns == 2
    assert ingested.exchanges == {"first:0": "first:0", "first:2": "first:0"}


async def test_only_what_is_missing_is_stored_after_a_failure(
    workspace: Workspace, watcher: Remembering
) -> None:
    broken = Storing(failures=[WorkFailed("no disk")])
    with pytest.raises(WorkFailed):
        await an_ingestion(broken, workspace, watcher, concurrency=1).run()
    assert await an_ingestion(Storing(), workspace, watcher).run() == 2

    other = Storing(failures=[])
    assert await an_ingestion(other, workspace, watcher).run() == 0


async def test_what_is_stored_differently_is_erased_and_stored_once_more(
    workspace: Workspace, watcher: Remembering
) -> None:
    pipeline, client = Storing(failures=[StoredDifferently("another turn")]), Erasing()

    stored = await an_ingestion(pipeline, workspace, watcher, client=client, concurrency=1).run()

    assert stored == 2
    assert client.erased == pipeline.stored[:1]
    assert "stored anew: another turn" in watcher.notes[0]


async def test_all_is_erased_first_where_it_is_to_be_stored_anew(
    workspace: Workspace, watcher: Remembering
) -> None:
    pipeline, client = Storing(), Erasing()

    await an_ingestion(pipeline, workspace, watcher, client=client, anew=True).run()

    assert client.erased == pipeline.stored


async def test_failure_of_one_worker_is_told_as_it_is(
    workspace: Workspace, watcher: Remembering
) -> None:
    pipeline = Storing(failures=[ConnectionError("gone"), ConnectionError("gone")])

    with pytest.raises(ConnectionError, match="gone"):
        await an_ingestion(pipeline, workspace, watcher).run()
