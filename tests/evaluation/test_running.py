import pytest

from evaluation.configurations import Configurations
from evaluation.pipelines import pipeline_of
from evaluation.running import Evaluation
from evaluation.suite_file import read_suite
from evaluation.workspace import Workspace
from tests.evaluation.report.records import a_manifest, a_question, a_search, an_item
from tests.evaluation.watching import Remembering


@pytest.mark.parametrize(("with_adversarial", "answered"), [(False, ["q1"]), (True, ["q1", "q2"])])
async def test_only_questions_that_count_are_answered(
    workspace: Workspace, watcher: Remembering, with_adversarial: bool, answered: list[str]
) -> None:
    options = {"data": {"dataset": "own", "path": "x.jsonl"}, "k": [10]}
    suite = read_suite(None, options | {"with_adversarial": with_adversarial})
    search = Configurations(pipeline=pipeline_of("turns"), server={}).search(
        mode="hybrid", depth=50
    )
    workspace.keep(a_manifest())
    for key in ("q1", "q2"):
        workspace.questions.append(a_question(key, is_adversarial=key == "q2"))
        workspace.searches.append(a_search(key, [an_item("t1")], configuration=search))

    done = await Evaluation(suite, workspace, watcher, concurrency=1, environment={}).answer()

    assert done == {"answered": len(answered)}
    assert [one.question for one in workspace.answers] == answered
