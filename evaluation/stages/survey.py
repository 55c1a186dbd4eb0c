"""Reading the data once: which questions there are, and how much has to be stored for them."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from evaluation.conversations import Dataset, Question
from evaluation.records import QuestionRecord
from evaluation.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What is asked, by conversation, in the data's order."""

    questions: Mapping[str, Sequence[QuestionRecord]]
    turns: Mapping[str, int]

    @property
    def count(self) -> int:
        """How many questions there are."""
        return sum(map(len, self.questions.values()))


def survey(dataset: Dataset, workspace: Workspace) -> Survey:
    """Read the data, and write down its questions with what is right."""
    questions: dict[str, Sequence[QuestionRecord]] = {}
    turns: dict[str, int] = {}
    for conversation, asked in dataset.conversations():
        if not asked:
            continue
        questions[conversation.key] = [_record(dataset.digest, one) for one in asked]
        turns[conversation.key] = len(conversation.recorded)
    found: dict[Hashable, QuestionRecord] = {
        (one.dataset, one.question): one for listed in questions.values() for one in listed
    }
    others: dict[Hashable, QuestionRecord] = {
        (one.dataset, one.question): one
        for one in workspace.questions
        if one.dataset != dataset.digest
    }
    if any(workspace.questions.get(key) != record for key, record in found.items()):
        workspace.questions.replace({**others, **found})
    return Survey(questions=questions, turns=turns)


def _record(dataset: str, question: Question) -> QuestionRecord:
    return QuestionRecord(
        dataset=dataset,
        question=question.key,
        conversation=question.conversation,
        text=question.text,
        category=question.category,
        answers=tuple(question.answers),
        rubric=question.rubric,
        evidence=tuple(sorted(question.evidence)),
        sessions=tuple(sorted(question.sessions)),
        stale=tuple(sorted(question.stale)),
        is_abstention=question.is_abstention,
        is_adversarial=question.is_adversarial,
        asked_at=question.asked_at,
    )
