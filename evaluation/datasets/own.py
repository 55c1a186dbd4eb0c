"""The user's own conversations and questions: JSON Lines, one conversation or question a line.

Everything is checked before anything is measured, and every fault is told with its file, line and
field. Lines are read again as they are needed, so that one conversation is held at a time.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from evaluation.conversations import Conversation, Dataset, Question, Turn
from evaluation.datasets.checking import checked, kind_of
from evaluation.datasets.digest import digest_of
from evaluation.datasets.errors import InvalidDataset, UnknownChoice
from evaluation.datasets.json_items import open_plain
from evaluation.datasets.own_lines import ConversationLine, QuestionLine

MOST_SHOWN: Final = 20
"""Faults that one message names."""

_FIX: Final = (
    'A line is {"conversation": ..., "sessions": [...]} or {"conversation": ..., "question": ...}'
)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question, its key, and where it stands."""

    key: str
    line: QuestionLine
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Own(Dataset):
    """Conversations of one file, or of all `.jsonl` files of a directory by name."""

    files: Sequence[Path]
    only: Collection[str] = ()
    """Names of conversations; empty: all."""
    limit: int | None = None

    def conversations(self) -> Iterator[tuple[Conversation, Sequence[Question]]]:
        asked = _asked(_read(self.files, []))
        told = (line for line, _ in _read(self.files, []) if isinstance(line, ConversationLine))
        chosen = (line for line in told if not self.only or line.conversation in self.only)
        for line in islice(chosen, self.limit):
            conversation = _conversation(line)
            yield conversation, _questions(asked.get(line.conversation, ()), conversation)


def open_own(path: Path, *, only: Sequence[str] = (), limit: int | None = None) -> Own:
    """Check every line.

    `only` are names of conversations; `limit` is how many of them. Raises InvalidDataset with each
    fault on a line of its own, as FILE:LINE: FIELD what is wrong.
    """
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    faults: list[str] = []
    names = _check(files, faults)
    if not names and not faults:
        faults.append(f"{path}: there is no conversation in it. {_FIX}")
    if faults:
        more = len(faults) - MOST_SHOWN
        rest = [f"... and {more} more"] if more > 0 else []
        raise InvalidDataset("\n".join(faults[:MOST_SHOWN] + rest))
    if unknown := [name for name in only if name not in names]:
        raise UnknownChoice(f"{path} has no conversation {', '.join(unknown)}")
    return Own(
        name="own",
        digest=digest_of(files, {"only": sorted(only), "limit": limit}),
        files=files,
        only=frozenset(only),
        limit=limit,
    )


def _read(
    files: Sequence[Path], faults: list[str]
) -> Iterator[tuple[ConversationLine | QuestionLine, str]]:
    """Give each line with its place; what is wrong with a line is added to the faults."""
    for path in files:
        with open_plain(path) as file:
            for number, raw in enumerate(file, start=1):
                if raw.strip():
                    place = f"{path}:{number}"
                    try:
                        yield _parsed(raw, place), place
                    except InvalidDataset as error:
                        faults.append(str(error))


def _parsed(raw: bytes, place: str) -> ConversationLine | QuestionLine:
    try:
        value = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InvalidDataset(f"{place}: it is not UTF-8 ({error.reason}): save it so") from None
    except json.JSONDecodeError as error:
        raise InvalidDataset(
            f"{place}: column {error.colno}: {error.msg}; each line is one JSON object. {_FIX}"
        ) from None
    if not isinstance(value, dict):
        raise InvalidDataset(f"{place}: it is {kind_of(value)} and should be an object. {_FIX}")
    if "question" in value:
        return checked(QuestionLine, value, place)
    if "sessions" in value:
        return checked(ConversationLine, value, place)
    raise InvalidDataset(f"{place}: it has neither sessions nor question. {_FIX}")


def _asked(lines: Iterator[tuple[ConversationLine | QuestionLine, str]]) -> dict[str, list[_Asked]]:
    """Return the questions by conversation."""
    asked: dict[str, list[_Asked]] = defaultdict(list)
    for line, place in lines:
        if isinstance(line, QuestionLine):
            known = asked[line.conversation]
            key = line.id or f"{line.conversation}/q{len(known) + 1}"
            known.append(_Asked(key, line, place))
    return asked


def _check(files: Sequence[Path], faults: list[str]) -> Collection[str]:
    """Return the names of conversations; what is wrong is added to the faults."""
    asked = _asked(_read(files, faults))
    _check_keys(asked, faults)
    places: dict[str, str] = {}
    # Lines that cannot be read are among the faults already.
    for line, place in _read(files, []):
        if not isinstance(line, ConversationLine):
            continue
        if line.conversation in places:
            faults.append(
                f"{place}: conversation {line.conversation!r} stands in {places[line.conversation]}"
                " already: put all its sessions into one line"
            )
            continue
        places[line.conversation] = place
        _check_conversation(line, place, asked.get(line.conversation, ()), faults)
    for name, questions in asked.items():
        if name not in places:
            faults.append(
                f"{questions[0].place}: conversation {name!r} is in no line with sessions: "
                "add it, or mend the name"
            )
    return places.keys()


def _check_keys(asked: Mapping[str, Sequence[_Asked]], faults: list[str]) -> None:
    keys = Counter(one.key for questions in asked.values() for one in questions)
    faults += [
        f"{one.place}: id {one.key!r} is another question's too: give each one of its own"
        for questions in asked.values()
        for one in questions
        if keys[one.key] > 1
    ]


def _check_conversation(
    line: ConversationLine, place: str, asked: Sequence[_Asked], faults: list[str]
) -> None:
    conversation = _conversation(line)
    turns = Counter(turn.key for turn in conversation.turns)
    sessions = Counter(_session_keys(line))
    faults += [
        f"{place}: {kind} id {key!r} is there {times} times: give each one of its own"
        for kind, keys in (("session", sessions), ("turn", turns))
        for key, times in keys.items()
        if times > 1
    ]
    for one in asked:
        for name, keys, named in (
            ("evidence", turns, one.line.evidence),
            ("stale", turns, one.line.stale),
            ("sessions", sessions, one.line.sessions),
        ):
            faults += [
                f"{one.place}: {name}[{number}] is {key!r}, and conversation "
                f"{line.conversation!r} has no such id: it has {_some(keys)}"
                for number, key in enumerate(named)
                if key not in keys
            ]


def _some(keys: Collection[str]) -> str:
    shown = ", ".join(list(keys)[:3])
    return f"{shown} and {len(keys) - 3} more" if len(keys) > 3 else shown


def _session_keys(line: ConversationLine) -> Sequence[str]:
    return [session.id or str(number) for number, session in enumerate(line.sessions, start=1)]


def _conversation(line: ConversationLine) -> Conversation:
    return Conversation(
        key=line.conversation,
        turns=[
            Turn(
                key=turn.id or f"{session_key}:{number}",
                session=session_key,
                speaker=turn.speaker or turn.role,
                role=turn.role,
                text=turn.text,
                said_at=turn.at or session.at,
            )
            for session_key, session in zip(_session_keys(line), line.sessions, strict=True)
            for number, turn in enumerate(session.turns, start=1)
        ],
    )


def _questions(asked: Sequence[_Asked], conversation: Conversation) -> Sequence[Question]:
    sessions = {turn.key: turn.session for turn in conversation.turns}
    return [
        Question(
            key=one.key,
            conversation=conversation.key,
            text=one.line.question,
            category=one.line.category,
            answers=one.line.answers,
            rubric=one.line.rubric,
            evidence=frozenset(one.line.evidence),
            sessions=frozenset(
                [*one.line.sessions, *(sessions[turn] for turn in one.line.evidence)]
            ),
            stale=frozenset(one.line.stale),
            is_abstention=one.line.abstention,
            asked_at=one.line.asked_at,
        )
        for one in asked
    ]
