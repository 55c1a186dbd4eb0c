"""LoCoMo's original file: ten long conversations of two people, with their known faults mended.

Never read: `query` of a picture, which its crawler searched for and which holds words of answers;
`observation`, `session_summary` and `event_summary`, which are somebody's extraction already.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from evaluation.conversations import Conversation, Dataset, Question, Turn
from evaluation.datasets.audit import Correction, read_corrections, refuse_another_gold
from evaluation.datasets.checking import checked
from evaluation.datasets.digest import digest_of
from evaluation.datasets.errors import InvalidDataset, UnknownChoice
from evaluation.datasets.json_items import read_items

ADVERSARIAL: Final = 5

_SESSION: Final = re.compile(r"session_(\d+)")
_DATE: Final = re.compile(
    r"\s*(\d{1,2}):(\d{2})\s*([ap])m\s+on\s+(\d{1,2})\s+([a-z]+),?\s+(\d{4})", re.IGNORECASE
)
_EVIDENCE: Final = re.compile(r"D\s*:?\s*(\d+)\s*:\s*(\d+)")
_MONTHS: Final = (
    "january february march april may june july august september october november december".split()
)
_FIX: Final = "The file should be LoCoMo's own locomo10.json, or conversations of it unchanged"


class _Turn(BaseModel):
    speaker: str
    dia_id: str
    text: str
    blip_caption: str | None = None


class _Question(BaseModel):
    question: str
    category: int
    answer: str | int | float | None = None
    evidence: list[Any] = []


class _Sample(BaseModel):
    sample_id: str
    conversation: Mapping[str, Any]
    qa: list[_Question]


class _Session(BaseModel):
    turns: list[_Turn]
    date_time: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Locomo(Dataset):
    """Conversations of LoCoMo's file; `only` names those chosen, in the file's order."""

    path: Path
    only: Collection[str] = ()
    limit: int | None = None
    corrections: Mapping[str, Correction] = field(default_factory=dict)
    """By question key; empty: as the data has it."""

    def conversations(self) -> Iterator[tuple[Conversation, Sequence[Question]]]:
        for sample in islice(_samples(self.path, self.only), self.limit):
            conversation = _conversation(self.path, sample)
            yield conversation, _questions(sample, conversation, self.corrections)


def open_locomo(
    path: Path, *, only: Sequence[str] = (), limit: int | None = None, audit: Path | None = None
) -> Locomo:
    """Read the whole file once, so that what is wrong with it is known before anything is measured.

    `only` are conversations, as `26` or `conv-26`; `limit` is how many of them. `audit` is a file
    of corrections to the gold: figures by it stand beside those by the data, never in their place.
    """
    names = [f"conv-{name}" if name.isdigit() else name for name in only]
    corrections = read_corrections(audit) if audit else {}
    _refuse_unknown(path, names)
    files = [path, audit] if audit else [path]
    return Locomo(
        name="locomo",
        digest=digest_of(files, {"only": sorted(names), "limit": limit}),
        notes=_notes(islice(_samples(path, names), limit), corrections, audit),
        path=path,
        only=frozenset(names),
        limit=limit,
        corrections=corrections,
    )


def resolve_evidence(
    given: Sequence[object], turns: Collection[str]
) -> tuple[list[str], list[str]]:
    """Return the turns that the evidence names, each once, and what of it names none.

    The file writes several in one text, with zeros before, and with stray marks.
    """
    found: dict[str, None] = {}
    nowhere = []
    for text in map(str, given):
        names = [f"D{int(session)}:{int(turn)}" for session, turn in _EVIDENCE.findall(text)]
        nowhere += [name for name in names if name not in turns] if names else [text]
        found |= dict.fromkeys(name for name in names if name in turns)
    return list(found), nowhere


def _samples(path: Path, only: Collection[str]) -> Iterator[_Sample]:
    for number, item in read_items(path):
        sample = checked(_Sample, item, f"{path}: conversation {number}", fix=_FIX)
        if not only or sample.sample_id in only:
            yield sample


def _refuse_unknown(path: Path, names: Sequence[str]) -> None:
    """Check every conversation of the file, and that the chosen are there."""
    there: set[str] = set()
    for sample in _samples(path, ()):
        _conversation(path, sample)
        if sample.sample_id in there:
            raise InvalidDataset(f"{path}: {sample.sample_id} is there twice: take one out")
        there.add(sample.sample_id)
    if not there:
        raise InvalidDataset(f"{path}: there is no conversation in it. {_FIX}")
    if unknown := [name for name in names if name not in there]:
        raise UnknownChoice(
            f"{path} has no conversation {', '.join(unknown)}; it has {', '.join(sorted(there))}"
        )


def _conversation(path: Path, sample: _Sample) -> Conversation:
    place = f"{path}: {sample.sample_id}"
    speakers = [sample.conversation.get(name) for name in ("speaker_a", "speaker_b")]
    roles = dict(zip(speakers, ("user", "assistant"), strict=True))
    turns: dict[str, Turn] = {}
    for session, value in _sessions(sample.conversation):
        read = checked(_Session, value, f"{place}: {session}", fix=_FIX)
        said_at = _moment(read.date_time, f"{place}: {session}_date_time")
        for turn in read.turns:
            where = f"{place}: {session}: {turn.dia_id}"
            if turn.dia_id in turns:
                raise InvalidDataset(f"{where}: another turn has this dia_id. {_FIX}")
            if turn.speaker not in roles:
                raise InvalidDataset(
                    f"{where}: speaker {turn.speaker!r} is neither speaker_a nor speaker_b. {_FIX}"
                )
            turns[turn.dia_id] = Turn(
                key=turn.dia_id,
                session=session,
                speaker=turn.speaker,
                role=roles[turn.speaker],
                text=_said(turn),
                said_at=said_at,
            )
    return Conversation(key=sample.sample_id, turns=tuple(turns.values()))


def _sessions(conversation: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give each session that has turns, in order; dates stand there for sessions that do not."""
    numbers = sorted(int(found[1]) for name in conversation if (found := _SESSION.fullmatch(name)))
    for number in numbers:
        session = f"session_{number}"
        yield (
            session,
            {
                "turns": conversation[session],
                "date_time": conversation.get(f"{session}_date_time"),
            },
        )


def _moment(text: str, place: str) -> datetime:
    found = _DATE.match(text)
    try:
        if not found:
            raise ValueError(text)  # noqa: TRY301 one message for both faults
        hour, minute, half, day, month, year = found.groups()
        return datetime(
            int(year),
            _MONTHS.index(month.lower()) + 1,
            int(day),
            # Twelve comes before one: 12 am is midnight and 12 pm is noon.
            int(hour) % 12 + (12 if half.lower() == "p" else 0),
            int(minute),
            tzinfo=UTC,
        )
    except ValueError:
        raise InvalidDataset(
            f"{place}: {text!r} is no date such as '1:56 pm on 8 May, 2023'. {_FIX}"
        ) from None


def _said(turn: _Turn) -> str:
    return f"{turn.text} [image: {turn.blip_caption}]" if turn.blip_caption else turn.text


def _questions(
    sample: _Sample, conversation: Conversation, corrections: Mapping[str, Correction]
) -> Sequence[Question]:
    sessions = {turn.key: turn.session for turn in conversation.turns}
    return [
        _question(f"{sample.sample_id}/q{number}", sample, question, sessions, corrections)
        for number, question in enumerate(sample.qa)
    ]


def _question(
    key: str,
    sample: _Sample,
    question: _Question,
    sessions: Mapping[str, str],
    corrections: Mapping[str, Correction],
) -> Question:
    correction = corrections.get(key)
    if correction:
        refuse_another_gold(correction, key, question.question)
    evidence, _ = resolve_evidence(
        correction.evidence if correction else question.evidence, sessions.keys()
    )
    answer = correction.answer if correction else question.answer
    is_adversarial = question.category == ADVERSARIAL
    return Question(
        key=key,
        conversation=sample.sample_id,
        text=question.question,
        category=str(question.category),
        answers=() if answer is None else (str(answer),),
        evidence=frozenset(evidence),
        sessions=frozenset(sessions[turn] for turn in evidence),
        # What an adversarial question asks for was said by nobody; a few of them are asked rightly.
        is_abstention=is_adversarial and answer is None,
        is_adversarial=is_adversarial,
    )


def _notes(
    samples: Iterator[_Sample], corrections: Mapping[str, Correction], audit: Path | None
) -> Sequence[str]:
    bare, nowhere, corrected = 0, [], 0
    for sample in samples:
        turns = {
            turn["dia_id"]
            for _, session in _sessions(sample.conversation)
            for turn in session["turns"]
        }
        for number, question in enumerate(sample.qa):
            key = f"{sample.sample_id}/q{number}"
            corrected += key in corrections
            given = corrections[key].evidence if key in corrections else question.evidence
            found, lost = resolve_evidence(given, turns)
            nowhere += [f"{key} {text}" for text in lost]
            bare += not found and question.category != ADVERSARIAL
    notes = ["LoCoMo, CC BY-NC 4.0: not for commercial use, and not to be given on"]
    notes += [f"{bare} questions name no evidence that exists: retrieval is not defined for them"]
    if nowhere:
        notes += [f"Evidence that names no turn, left out: {', '.join(nowhere)}"]
    if audit:
        notes += [f"{corrected} questions with answer and evidence as corrected by {audit.name}"]
    return notes
