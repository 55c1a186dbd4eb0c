from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pytest

from evaluation.readers.reader import Reader, Reading
from evaluation.records import FoundItem
from evaluation.stages.answer import Answering
from evaluation.workspace import Workspace
from memory_server.errors import ProviderUnavailable
from tests.evaluation.report.records import DATA, a_question, a_search, an_item
from tests.evaluation.watching import Remembering


@dataclass
class Echo(Reader):
    """Answers with how much it was given."""

    digest: str = "echo-1"
    fails_at: int | None = None
    read_: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return "echo"

    @property
    def prompt(self) -> str:
        return ""

    async def read(
        self, question: str, found: Sequence[FoundItem], *, asked_at: datetime | None
    ) -> Reading:
        if self.fails_at == len(self.read_):
            raise ProviderUnavailable("away")
        self.read_.append(question)
        return Reading(answer=str(len(found)), tokens_in=3, tokens_out=1)

    async def close(self) -> None:
        """Nothing is open."""


QUESTIONS = [a_question("q1"), a_question("q2"), a_question("q3")]


@pytest.fixture
def searched(workspace: Workspace) -> Workspace:
    for question in QUESTIONS[:2]:
        found = [an_item("t1"), an_item("t2"), an_item("t3")]
        workspace.searches.append(a_search(question.question, found, configuration="s"))
    return workspace


def answering(workspace: Workspace, watcher: Remembering, reader: Reader, **more: Any) -> Answering:
    given: dict[str, Any] = {
        "dataset": DATA,
        "questions": QUESTIONS,
        "searches": ["s"],
        "readers": [reader],
        "cutoffs": [1, 2],
        "workspace": workspace,
        "watcher": watcher,
        "concurrency": 2,
    }
    return Answering(**given | more)


async def test_each_k_is_a_slice_of_one_search_and_answered_once(
    searched: Workspace, watcher: Remembering
) -> None:
    assert await answering(searched, watcher, Echo()).run() == 4
    assert await answering(searched, watcher, Echo()).run() == 0
    assert await answering(searched, watcher, Echo(), cutoffs=[1, 3]).run() == 2

    told = {(one.question, one.k): one.answer for one in searched.answers}
    assert told["q1", 1] == "1"
    assert told["q2", 3] == "3"
    assert not any(question == "q3" for question, _ in told)


async def test_another_prompt_answers_anew_and_searches_nothing(
    searched: Workspace, watcher: Remembering
) -> None:
    await answering(searched, watcher, Echo()).run()

    assert await answering(searched, watcher, Echo(digest="echo-2")).run() == 4
    assert len({one.configuration for one in searched.answers}) == 4


async def test_what_was_answered_before_a_failure_is_kept(
    searched: Workspace, watcher: Remembering
) -> None:
    with pytest.raises(ProviderUnavailable, match="away"):
        await answering(searched, watcher, Echo(fails_at=3), concurrency=1).run()

    assert len(list(searched.answers)) == 3
    assert await answering(searched, watcher, Echo()).run() == 1
