"""Taking a model's items at their word only as far as the conversation bears them out."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from pydantic import ValidationError

from memory_server.domain.candidate import Candidate, Rejected
from memory_server.domain.characters import whole
from memory_server.domain.dates import resolve, resolve_each
from memory_server.domain.memory import EventTime, ExtractedBody, Fact, MemoryType
from memory_server.domain.source_times import said_at
from memory_server.domain.turn import Role, Turn
from memory_server.prompts.item import Item, Prompt
from memory_server.providers.extraction.faithfulness import (
    Words,
    headline_unfounded,
    named_unfounded,
    unfounded,
    unspoken,
)
from memory_server.providers.extraction.orders import gives_orders, only_obeys, tells_secret
from memory_server.providers.extraction.rules.pattern import slug
from memory_server.providers.extraction.rules.reading import is_named

_MAX_RAW = 2000
_MAX_PROBLEMS = 20
_MAX_LABEL = 60
_READ = 20_000
"""Characters of a turn in which times are looked for."""
_NOT_ITS_OWN = frozenset(
    "visibility scope userid user owner orgid projectid agentid sessionid tenant tenantid memoryid"
    " supersedes supersededby snapshotid deleted".split()
)
_HOLDERS = ("metadata", "scope", "body", "memory")
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
    shown: Sequence[tuple[Turn, str]]
    """The turns with what was shown of them, in order."""

    def check(self, items: Sequence[object]) -> Checked:
        """Return each item as a candidate or as rejected, with the reason."""
        candidates: list[Candidate] = []
        rejected: list[Rejected] = []
        for raw in items:
            outcome = self._one(raw)
            if isinstance(outcome, Candidate):
                candidates.append(outcome)
            else:
                rejected.append(Rejected(reason=whole(outcome), raw=_readable(raw)))
        return Checked(candidates, rejected)

    def _one(self, raw: object) -> Candidate | str:
        try:
            item = self.prompt.item.model_validate(raw)
        except ValidationError as error:
            return _reasons(error)
        body = _named(item.body(snapshot_id=self.snapshot_id))
        if not body.key:
            return "attribute: has no letters"
        evidence = [place for place, (turn, _) in enumerate(self.shown) if _is_in(turn, item)]
        return self._doubt(raw, item, evidence) or Candidate(
            body=body,
            turn_ids=tuple(dict.fromkeys(self.shown[place][0].id for place in evidence)),
            claim=item.claim(),
            event_time=self._event_time(item, body.chunk_text),
            confidence=item.confidence,
            retracts=item.is_retraction(),
        )

    def _doubt(self, raw: object, item: Item, evidence: Sequence[int]) -> str | None:
        """Return the first reason not to believe an item."""
        if not evidence:
            return "evidence names no turn of this conversation"
        turns = [self.shown[place][0] for place in evidence]
        if self._is_of_facts and not any(
            turn.role is Role.USER or is_named(turn) for turn in turns
        ):
            return "rests on an assistant's words only"
        told = "\n".join((*item.prose(), *item.labels(), *item.names()))
        return (
            _overreach(raw)
            or _order(told, [self.shown[place][1] for place in evidence])
            or self._unfounded(item, evidence)
        )

    @property
    def _is_of_facts(self) -> bool:
        return self.prompt.kind is MemoryType.SEMANTIC

    def _unfounded(self, item: Item, evidence: Sequence[int]) -> str | None:
        words = self._words(evidence)
        claim = item.claim()
        subject = () if claim is None or claim.subject == "user" else (claim.subject,)
        doubts = (
            *(named_unfounded(name, words) for name in (*subject, *item.names())),
            *(unfounded(text, words) for text in item.prose()),
            *(headline_unfounded(text, words) for text in item.labels()),
            *(unspoken(text, words) for text in item.prose() if self._is_of_facts),
        )
        return next((doubt for doubt in doubts if doubt), None)

    def _words(self, evidence: Sequence[int]) -> Words:
        """Return what an item may draw on: its turns, and before each the one it answers."""
        places = sorted({place for one in evidence for place in (one - 1, one) if place >= 0})
        said = [(text, said_at(turn)) for turn, text in (self.shown[place] for place in evidence)]
        days = [moment.date() for _, moment in said if moment]
        return Words(
            evidence="\n".join(self.shown[place][1] for place in places),
            conversation="\n".join(f"{turn.speaker}: {text}" for turn, text in self.shown),
            spans=(
                *((day, day + timedelta(days=1)) for day in days),
                *(_span(event) for text, at in said for event in resolve_each(text[:_READ], at)),
            ),
        )

    def _event_time(self, item: Item, told_in: str) -> EventTime | None:
        """Resolve the words that tell when, if they stand in the turn that the item names."""
        words = item.event_words
        for turn, text in self.shown:
            place = text.casefold().find(words.casefold()) if words else -1
            if words and turn.turn_seq == item.event_turn and place >= 0:
                before = text[max(0, place - _READ) : place]
                return resolve(words, said_at(turn), told_in=told_in, after=before)
        return None


def _is_in(turn: Turn, item: Item) -> bool:
    return turn.turn_seq in item.evidence


def _span(event: EventTime) -> tuple[date, date]:
    return event.start.date(), event.end.date()


def _overreach(raw: object) -> str | None:
    """Return why an item that claims a scope, or an id that it cannot know, is not taken."""
    given = raw if isinstance(raw, Mapping) else {}
    inner = [given[key] for key in _HOLDERS if isinstance(given.get(key), Mapping)]
    told = (item for one in (given, *inner) for item in one.items())
    keys = {_bare(key) for key, value in told if value is not None}
    beyond = sorted(keys & _NOT_ITS_OWN)
    if beyond:
        return f"{beyond[0]}: whose a memory is and who sees it is not for an item to say"
    if isinstance(given.get("id"), str) or isinstance(given.get("_id"), str):
        return "id: an item is new and names no memory"
    return None


def _bare(key: object) -> str:
    return re.sub(r"[^a-z]", "", str(key).casefold())


def _order(told: str, evidence: Sequence[str]) -> str | None:
    if gives_orders(told):
        return "gives orders about memory or about other users"
    if only_obeys(told, evidence):
        return "does what its evidence orders; an order is no fact"
    if tells_secret(told):
        return "tells a password or another secret"
    return None


def _readable(raw: object) -> str:
    """Return a rejected item for the operator; half an emoji can neither be sent nor kept."""
    text = json.dumps(raw, ensure_ascii=False, default=str)
    return whole("(not shown, for it tells a secret)" if tells_secret(text) else text[:_MAX_RAW])


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
