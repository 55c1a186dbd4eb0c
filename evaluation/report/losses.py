"""Why evidence was not found: the first reason that fits, from what the searches brought."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evaluation.metrics.retrieval import recall
from evaluation.metrics.words import locomo_stems
from evaluation.records import FoundItem, QuestionRecord, SearchRecord
from evaluation.report.measured import Lost, Reason, Retrieved

WORST = 12
_SHOWN = 5
_CHARACTERS = 240
_ALIKE = 0.5
"""Share of words two texts have in common from which they are near-duplicates."""
_CLOSE = 3
"""Words that a text needs to be compared at all."""
_EXAMPLES = 5

STALE = "something stale came first"
DUPLICATE = "a near-duplicate of another session came first"
BEYOND = "found, but beyond k"
OTHER_MODE = "found within k by another mode"
NEIGHBOUR = "another turn of its exchange was found"
SESSION = "another turn of its session was found"
NOWHERE = "nothing near it was found"


@dataclass(frozen=True, slots=True, kw_only=True)
class Losses:
    """Looks for what one search lost within k."""

    system: str
    k: int
    questions: Mapping[str, QuestionRecord]
    searches: Mapping[str, SearchRecord]
    others: Mapping[str, Mapping[str, SearchRecord]]
    """Searches of the same questions in other modes, by mode."""
    exchanges: Mapping[str, Mapping[str, str]]
    """By conversation."""

    def find(self) -> tuple[Sequence[Lost], Sequence[Reason]]:
        """Return the worst questions, and how often each reason is one over all questions."""
        lost = [found for key in sorted(self.searches) if (found := self._lost(key))]
        turns: dict[str, int] = {}
        examples: dict[str, dict[str, None]] = {}
        for question in lost:
            for reason in question.reasons.values():
                kind = reason.partition(":")[0]
                turns[kind] = turns.get(kind, 0) + 1
                examples.setdefault(kind, {})[question.question] = None
        reasons = [
            Reason(
                system=self.system,
                k=self.k,
                reason=kind,
                turns=count,
                examples=list(examples[kind])[:_EXAMPLES],
            )
            for kind, count in sorted(turns.items(), key=lambda entry: -entry[1])
        ]
        worst = sorted(lost, key=lambda each: (each.recall, -len(each.reasons), each.question))
        return worst[:WORST], reasons

    def _lost(self, key: str) -> Lost | None:
        question = self.questions.get(key)
        if question is None or not question.evidence:
            return None
        found = self.searches[key].found
        within = {turn for item in found[: self.k] for turn in item.turns}
        missing = [turn for turn in question.evidence if turn not in within]
        if not missing:
            return None
        return Lost(
            system=self.system,
            question=key,
            text=question.text,
            category=question.category,
            answers=question.answers or ([question.rubric] if question.rubric else []),
            k=self.k,
            recall=recall([item.turns for item in found], set(question.evidence), self.k),
            reasons={turn: self._reason(question, found, turn) for turn in missing},
            retrieved=list(_retrieved(question, found[:_SHOWN])),
        )

    def _reason(self, question: QuestionRecord, found: Sequence[FoundItem], turn: str) -> str:
        rank = _rank(found, turn)
        stale = [place for old in question.stale if (place := _rank(found, old))]
        if stale and turn not in question.stale and min(stale) <= (rank or len(found)):
            return f"{STALE}: rank {min(stale)}"
        if rank is not None:
            twin = _twin(found, rank, self.k)
            return f"{DUPLICATE}: rank {twin}" if twin else f"{BEYOND}: rank {rank}"
        elsewhere = self._other_mode(question.question, turn)
        if elsewhere:
            return f"{OTHER_MODE}: {elsewhere}"
        return self._near(question, found[: self.k], turn)

    def _other_mode(self, question: str, turn: str) -> str | None:
        for mode, searches in self.others.items():
            if question in searches:
                rank = _rank(searches[question].found, turn)
                if rank is not None and rank <= self.k:
                    return f"{mode} at rank {rank}"
        return None

    def _near(self, question: QuestionRecord, found: Sequence[FoundItem], turn: str) -> str:
        exchanges = self.exchanges.get(question.conversation, {})
        own = exchanges.get(turn)
        for rank, item in enumerate(found, start=1):
            if own is not None and any(exchanges.get(other) == own for other in item.turns):
                return f"{NEIGHBOUR}: rank {rank}"
        # Which session a turn is of is known only where the question has evidence of one session.
        sessions = set(question.sessions)
        if len(sessions) == 1:
            for rank, item in enumerate(found, start=1):
                if sessions & set(item.sessions):
                    return f"{SESSION}: rank {rank}"
        return NOWHERE


def _rank(found: Sequence[FoundItem], turn: str) -> int | None:
    return next((rank for rank, item in enumerate(found, start=1) if turn in item.turns), None)


def _twin(found: Sequence[FoundItem], rank: int, k: int) -> int | None:
    """Return the rank within k of an item of another session that says nearly the same."""
    wanted = found[rank - 1]
    words = set(locomo_stems(wanted.content))
    for place, item in enumerate(found[:k], start=1):
        others = set(locomo_stems(item.content))
        if set(item.sessions) & set(wanted.sessions) or len(words) < _CLOSE:
            continue
        if len(words & others) >= _ALIKE * len(words | others):
            return place
    return None


def _retrieved(question: QuestionRecord, found: Sequence[FoundItem]) -> Iterator[Retrieved]:
    evidence = set(question.evidence)
    for rank, item in enumerate(found, start=1):
        yield Retrieved(
            rank=rank,
            source=item.source,
            content=item.content[:_CHARACTERS],
            is_evidence=not evidence.isdisjoint(item.turns),
            score=item.score,
        )
