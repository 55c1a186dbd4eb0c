"""LongMemEval's files (S, M, oracle, original or cleaned) and what is generated in their schema.

Each item is a question with a history of its own; one item is held at a time, since the largest
file is of 2.7 GB. What would tell a system under test the answer stays here: the ids of sessions
name those that hold evidence, so that turns and sessions are numbered anew, by date.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel

from evaluation.conversations import Conversation, Dataset, Question, Turn
from evaluation.datasets.checking import checked
from evaluation.datasets.digest import digest_of
from evaluation.datasets.errors import InvalidDataset, UnknownChoice
from evaluation.datasets.json_items import read_items

KNOWN_ERRORS: Final[Mapping[str, str]] = json.loads(
    Path(__file__).with_name("known_errors.json").read_text(encoding="utf-8")
)["longmemeval"]
"""Questions whose gold is known to be wrong, and why."""

_ABSTENTION: Final = "_abs"
_PREFERENCE: Final = "single-session-preference"
_UPDATE: Final = "knowledge-update"
_DATE: Final = re.compile(r"(\d{4})/(\d{1,2})/(\d{1,2})\s*(?:\(\w+\))?\s*(\d{1,2}):(\d{2})")
_FIX: Final = "The file should be one of LongMemEval's own, or JSON Lines of the same items"


class _Turn(BaseModel):
    role: Literal["user", "assistant"]
    content: str
    has_answer: bool | None = None


class _Item(BaseModel):
    question_id: str
    question_type: str
    question: str
    answer: str | int | float
    question_date: str
    haystack_dates: list[str]
    haystack_session_ids: list[str]
    haystack_sessions: list[list[_Turn]]
    answer_session_ids: list[str]
    synthetic: bool = False


@dataclass(frozen=True, slots=True)
class _Session:
    """One session with its place in time."""

    key: str
    name: str
    """As the data calls it."""
    at: datetime
    turns: Sequence[_Turn]

    def evidence(self) -> Iterator[str]:
        for number, turn in enumerate(self.turns, start=1):
            if turn.has_answer:
                yield f"{self.key}:{number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LongMemEval(Dataset):
    """Items of one file, in its order."""

    path: Path
    only: Collection[str] = ()
    """Ids of questions, or question types; empty: all."""
    limit: int | None = None
    without: Collection[str] = ()
    """Ids of questions that are left out."""

    def conversations(self) -> Iterator[tuple[Conversation, Sequence[Question]]]:
        seen: set[str] = set()
        unmet = set(self.only)
        for item, place in islice(self._chosen(unmet), self.limit):
            if item.question_id in seen:
                raise InvalidDataset(
                    f"{place}: question_id {item.question_id} is there twice: take one out"
                )
            seen.add(item.question_id)
            if item.synthetic != self.is_synthetic:
                raise InvalidDataset(
                    f"{place}: synthetic items and others are mixed: keep a file for each"
                )
            sessions = _sessions(item, place)
            yield _conversation(item, sessions), [_question(item, sessions, place)]
        if unmet and self.limit is None:
            raise UnknownChoice(
                f"{self.path} has no question and no question type {', '.join(sorted(unmet))}"
            )

    def _chosen(self, unmet: set[str]) -> Iterator[tuple[_Item, str]]:
        """Give what was chosen with its place; what was met is taken from `unmet`."""
        for number, raw in read_items(self.path):
            place = f"{self.path}: item {number}"
            names = {str(raw.get("question_id")), str(raw.get("question_type"))}
            if (not self.only or names & set(self.only)) and not names & set(self.without):
                unmet -= names
                yield checked(_Item, raw, place, fix=_FIX), place


def open_longmemeval(
    path: Path,
    *,
    only: Sequence[str] = (),
    limit: int | None = None,
    without_known_errors: bool = False,
) -> LongMemEval:
    """Look at the first item alone; the others are checked as they are read.

    `only` are question ids or question types; `limit` is how many items.
    """
    first = next((raw for _, raw in read_items(path)), None)
    if first is None:
        raise InvalidDataset(f"{path}: there is no item in it. {_FIX}")
    is_synthetic = checked(_Item, first, f"{path}: item 1", fix=_FIX).synthetic
    without = sorted(KNOWN_ERRORS) if without_known_errors and not is_synthetic else []
    return LongMemEval(
        name="longmemeval",
        digest=digest_of([path], {"only": sorted(only), "limit": limit, "without": without}),
        is_synthetic=is_synthetic,
        notes=_notes(is_synthetic=is_synthetic, without=without),
        path=path,
        only=frozenset(only),
        limit=limit,
        without=frozenset(without),
    )


def _notes(*, is_synthetic: bool, without: Sequence[str]) -> Sequence[str]:
    if is_synthetic:
        return ["Synthetic, generated in LongMemEval's schema: not a score of LongMemEval"]
    known = ", ".join(sorted(KNOWN_ERRORS))
    return [
        "LongMemEval, MIT",
        f"Questions with a known error, {'left out' if without else 'counted'}: {known}",
    ]


def _sessions(item: _Item, place: str) -> Sequence[_Session]:
    """Return the sessions by date: the oracle file has them in no order."""
    counts = [
        len(part)
        for part in (item.haystack_dates, item.haystack_session_ids, item.haystack_sessions)
    ]
    if len(set(counts)) > 1:
        raise InvalidDataset(
            f"{place}: haystack_dates, haystack_session_ids and haystack_sessions have "
            f"{counts[0]}, {counts[1]} and {counts[2]} entries and should have as many. {_FIX}"
        )
    dated = [
        (_moment(date, f"{place}: haystack_dates[{number}]"), number)
        for number, date in enumerate(item.haystack_dates)
    ]
    return [
        _Session(
            f"s{position}", item.haystack_session_ids[number], at, item.haystack_sessions[number]
        )
        for position, (at, number) in enumerate(sorted(dated), start=1)
    ]


def _conversation(item: _Item, sessions: Sequence[_Session]) -> Conversation:
    return Conversation(
        key=item.question_id,
        turns=[
            Turn(
                key=f"{session.key}:{number}",
                session=session.key,
                speaker=turn.role,
                role=turn.role,
                text=turn.content,
                said_at=session.at,
            )
            for session in sessions
            for number, turn in enumerate(session.turns, start=1)
        ],
    )


def _question(item: _Item, sessions: Sequence[_Session], place: str) -> Question:
    is_abstention = item.question_id.endswith(_ABSTENTION)
    is_rubric = item.question_type == _PREFERENCE and not is_abstention
    answer = str(item.answer)
    named = set(item.answer_session_ids)
    # What is near to a question about something that was never said is no evidence for it.
    holding = [] if is_abstention else [s for s in sessions if s.name in named]
    return Question(
        key=item.question_id,
        conversation=item.question_id,
        text=item.question,
        category=item.question_type,
        answers=() if is_rubric else (answer,),
        rubric=answer if is_rubric else None,
        evidence=frozenset(turn for session in holding for turn in session.evidence()),
        sessions=frozenset(session.key for session in holding),
        stale=_stale(holding) if item.question_type == _UPDATE else frozenset(),
        is_abstention=is_abstention,
        asked_at=_moment(item.question_date, f"{place}: question_date"),
    )


def _stale(holding: Sequence[_Session]) -> frozenset[str]:
    """Return the evidence of sessions before the last one that has any."""
    latest = max((session.at for session in holding if any(session.evidence())), default=None)
    return frozenset(
        turn for session in holding if latest and session.at < latest for turn in session.evidence()
    )


def _moment(text: str, place: str) -> datetime:
    found = _DATE.match(text)
    try:
        if not found:
            raise ValueError(text)  # noqa: TRY301 one message for both faults
        year, month, day, hour, minute = map(int, found.groups())
        return datetime(year, month, day, hour, minute, tzinfo=UTC)
    except ValueError:
        raise InvalidDataset(
            f"{place}: {text!r} is no date such as '2023/05/30 (Tue) 23:40'. {_FIX}"
        ) from None
