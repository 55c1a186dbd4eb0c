from collections.abc import Sequence
from typing import Any

from evaluation.configurations import Configurations
from evaluation.pipelines import pipeline_of
from evaluation.stages.ingest import Ingestion
from evaluation.stages.search import COLD, Searching
from evaluation.stages.survey import survey
from evaluation.suite import Mode
from evaluation.workspace import Workspace
from memory_server.client import MemoryServerClient
from tests.evaluation.talk import a_dataset
from tests.evaluation.watching import Remembering

TALK = a_dataset()
CONFIGURATIONS = Configurations(pipeline=pipeline_of("turns"), server={"version": "1"})


def parts(client: MemoryServerClient, workspace: Workspace, watcher: Remembering) -> dict[str, Any]:
    return {
        "dataset": TALK,
        "survey": survey(TALK, workspace),
        "workspace": workspace,
        "configurations": CONFIGURATIONS,
        "client": client,
        "watcher": watcher,
    }


async def asked(
    given: dict[str, Any], modes: Sequence[Mode], *, depth: int = 5, is_fresh: bool = True
) -> int:
    return await Searching(modes=modes, depth=depth, is_fresh=is_fresh, **given).run()


async def test_each_question_is_asked_once_in_each_mode(
    client: MemoryServerClient, workspace: Workspace, watcher: Remembering
) -> None:
    given = parts(client, workspace, watcher)
    await Ingestion(concurrency=1, **given).run()

    assert await asked(given, ["hybrid"]) == 2
    assert await asked(given, ["hybrid", "text"]) == 2
    assert await asked(given, ["hybrid", "text"]) == 0
    assert await asked(given, ["hybrid"], depth=6) == 2

    records = {(one.mode, one.depth, one.question): one for one in workspace.searches}
    assert len(records) == 6
    best = records["hybrid", 5, "q2"].found[0]
    assert list(best.turns) == ["second:4"]
    assert all(one.timing["total"] > 0 for one in records.values())


async def test_first_searches_of_a_server_that_was_started_are_cold(
    client: MemoryServerClient, workspace: Workspace, watcher: Remembering
) -> None:
    given = parts(client, workspace, watcher)
    await Ingestion(concurrency=1, **given).run()

    await asked(given, ["hybrid", "text", "semantic"])
    assert sum(one.is_cold for one in workspace.searches) == COLD

    await asked(given, ["text"], depth=9, is_fresh=False)
    assert sum(one.is_cold for one in workspace.searches) == COLD
