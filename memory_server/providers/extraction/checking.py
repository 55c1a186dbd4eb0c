"""Taking a model's items at their word only as far as the conversation bears them out."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import ValidationError

from memory_server.domain.candidate import Candidate, Rejected
from memory_server.domain.characters import whole
from memory_server.domain.dates import resolve
from memory_server.domain.memory import EventTime, ExtractedBody, Fact, MemoryType
from memory_server.domain.source_times import said_at
from memory_server.domain.turn import Role, Turn
from memory_server.prompts.item import Item, Prompt
from memory_server.providers.extraction.rules import guards
from memory_server.providers.extraction.rules.pattern import slug
from memory_server.providers.extraction.rules.reading import is_named

_MAX_RAW = 2000
_MAX_PROBLEMS = 20
_MAX_LABEL = 60
_REFUSAL = re.compile(
    r"^\W*(?:i'm sorry|i am sorry|sorry|i can't|i cannot|i can not|i'm unable|i am unable|i won't"
    r"|as an ai|lo siento|no puedo)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Checked:
    """The items of one answer, sorted."""

    candidates: Sequence[Candidate] = ()
    rejected: Sequence[Rejected] = ()

    def problems(self) -> str:
        """Return what is wrong with the rejected items, for the model to correct."""
        return "\n".join(
            f"- {rejected.raw}: {rejected.reason}" for rejected in self.rejected[:_MAX_PROBLEMS]
        )


@dataclass(frozen=True, slots=True)
class Checker:
    """Checks items against the form of their prompt and the turns that the model read."""

    prompt: Prompt
    snapshot_id: str
    turns: Sequence[Turn]

    def check(self, items: Sequence[object]) -> Checked:
        """Return each item as a candidate or as rejected, with the reason."""
        candidates: list[Candidate] = []
        rejected: list[Rejected] = []
        for raw in items:
            outcome = self._one(raw)
            if isinstance(outcome, Candidate):
                candidates.append(outcome)
            else:
                text = json.dumps(raw, ensure_ascii=False, default=str)
                # Half an emoji can neither be sent back to the model nor be kept.
                rejected.append(Rejected(reason=whole(outcome), raw=whole(text[:_MAX_RAW])))
        return Checked(candidates, rejected)

    def _one(self, raw: object) -> Candidate | str:
        try:
            item = self.prompt.item.model_validate(raw)
        except ValidationError as error:
            return _reasons(error)
        turns = [turn for turn in self._distinct_turns() if turn.turn_seq in item.evidence]
        body = _named(item.body(snapshot_id=self.snapshot_id))
        if not body.key:
            return "attribute: has no letters"
        return self._doubt(turns, body.chunk_text) or Candidate(
            body=body,
            turn_ids=tuple(turn.id for turn in turns),
            claim=item.claim(),
            event_time=self._event_time(item, body.chunk_text),
            confidence=item.confidence,
            retracts=item.is_retraction(),
        )

    def _distinct_turns(self) -> Sequence[Turn]:
        return list({turn.id: turn for turn in self.turns}.values())

    def _doubt(self, turns: Sequence[Turn], text: str) -> str | None:
        if not turns:
            return "evidence names no turn of this conversation"
        is_fact = self.prompt.kind is MemoryType.SEMANTIC
        if is_fact and not any(turn.role is Role.USER or is_named(turn) for turn in turns):
            return "rests on an assistant's words only"
        if guards.is_override(text):
            return "gives orders about memory or about other users"
        return None

    def _event_time(self, item: Item, told_in: str) -> EventTime | None:
        """Resolve the words that tell when, if they stand in the turn that the item names."""
        words = item.event_words
        turn = next((turn for turn in self.turns if turn.turn_seq == item.event_turn), None)
        if not words or turn is None or words.casefold() not in turn.content.casefold():
            return None
        return resolve(words, said_at(turn), told_in=told_in)


def _named(body: ExtractedBody) -> ExtractedBody:
    """Give a fact a label of the usual form and length; the end of a long one goes."""
    if not isinstance(body, Fact):
        return body
    label = slug(body.label, words=_MAX_LABEL)
    if len(label) > _MAX_LABEL:
        label = label[: _MAX_LABEL + 1].rpartition("_")[0] or label[:_MAX_LABEL]
    return replace(body, label=label)


def looks_like_refusal(text: str) -> bool:
    """Whether prose without items declines the task."""
    return bool(_REFUSAL.search(text.replace("\u2019", "'")))


def _reasons(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(str(part) for part in problem['loc']) or 'item'}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_input=False)
    )
