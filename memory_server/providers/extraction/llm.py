"""Extraction by a language model."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from memory_server.domain.candidate import Candidate, Conversation, Extraction, Rejected
from memory_server.domain.memory import MemoryType
from memory_server.domain.source_times import said_at
from memory_server.domain.spending import Usage
from memory_server.domain.turn import Role, Turn
from memory_server.errors import InvalidAnswer, ProviderError, Refused
from memory_server.ports.extractor import Extractor
from memory_server.prompts import episodic, procedural, semantic, taxonomic
from memory_server.prompts.conversation import ShownTurn, render
from memory_server.prompts.item import KEY, Prompt, correction
from memory_server.providers.extraction.answers import Answer, parse
from memory_server.providers.extraction.chat import (
    AnswerForm,
    Completion,
    LazyChatModel,
    Message,
    ModelAccess,
)
from memory_server.providers.extraction.checking import Checked, Checker, looks_like_refusal
from memory_server.providers.extraction.rules.cleaning import without_injected
from memory_server.providers.extraction.windows import Piece, pieces, windows

PROMPTS: Mapping[MemoryType, Prompt] = {
    module.PROMPT.kind: module.PROMPT for module in (semantic, episodic, procedural, taxonomic)
}
_WINDOW_TOKENS = 6000
_OVERLAP_TOKENS = 400
_MAX_EXCERPT = 2000


@dataclass(slots=True)
class _Tally:
    """What the calls of one extraction came to."""

    candidates: list[Candidate] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)


class LanguageModelExtractor(Extractor):
    """Asks a language model, one prompt for each memory type, and believes nothing unchecked.

    Items are validated one by one, so that a bad one never takes the others with it. What is
    not valid gets one repair round; what still is not is returned as rejected.
    """

    def __init__(self, access: ModelAccess, *, window_tokens: int = _WINDOW_TOKENS) -> None:
        self._model = LazyChatModel(access)
        self._window_tokens = window_tokens

    def version(self, kind: MemoryType) -> str:
        return f"llm/{self._model.name}/{kind.value}-{PROMPTS[kind].digest}"

    async def extract(self, conversation: Conversation, kind: MemoryType) -> Extraction:
        tally = _Tally()
        try:
            await self._read_all(conversation, PROMPTS[kind], tally)
        except ProviderError as error:
            error.details.update(asdict(tally.usage))
            raise
        return Extraction(
            candidates=tuple(_without_repetition(tally.candidates)),
            rejected=tuple(tally.rejected),
            **asdict(tally.usage),
        )

    async def check(self) -> None:
        self._model.check()

    async def close(self) -> None:
        await self._model.close()

    async def _read_all(self, conversation: Conversation, prompt: Prompt, tally: _Tally) -> None:
        for window in await asyncio.to_thread(_cut, conversation, self._window_tokens):
            read = [(piece.turn, piece.text) for piece in window]
            checker = Checker(prompt, conversation.snapshot.id, read)
            await self._read(window, checker, prompt, tally)

    async def _read(
        self, window: Sequence[Piece], checker: Checker, prompt: Prompt, tally: _Tally
    ) -> None:
        asked = Message(role="user", text=render([_shown(piece) for piece in window]))
        completion = await self._ask(prompt, [asked], tally)
        answer = parse(completion.text, key=KEY)
        checked = await _checked(checker, answer)
        tally.candidates += checked.candidates
        if answer is not None and not checked.rejected:
            tally.rejected += _cut_off(answer)
            return
        problems = checked.problems() if answer else "It is not a JSON object of the agreed form."
        exchange = (asked, Message(role="assistant", text=completion.text or "(nothing)"))
        again = Message(role="user", text=correction(problems))
        await self._repair((*exchange, again), checker, prompt, tally, checked)

    async def _repair(
        self,
        exchange: Sequence[Message],
        checker: Checker,
        prompt: Prompt,
        tally: _Tally,
        first: Checked,
    ) -> None:
        try:
            completion = await self._ask(prompt, exchange, tally)
        except ProviderError:
            if not first.candidates:
                raise
            tally.rejected += first.rejected
            return
        answer = parse(completion.text, key=KEY)
        if answer is None and not (first.candidates or first.rejected):
            raise _unusable(completion.text)
        second = await _checked(checker, answer)
        tally.candidates += second.candidates
        tally.rejected += second.rejected or (() if answer and answer.items else first.rejected)

    async def _ask(self, prompt: Prompt, messages: Sequence[Message], tally: _Tally) -> Completion:
        """Ask, and count the call also if it fails: what the model refuses is paid for too."""
        self._model.check()
        tally.usage += Usage(calls=1)
        try:
            completion = await self._model.complete(
                prompt.instructions, messages, AnswerForm(name=KEY, schema=prompt.answer_schema)
            )
        except ProviderError as error:
            tally.usage += Usage.of(error.details)
            raise
        tally.usage += Usage(
            input_tokens=completion.input_tokens, output_tokens=completion.output_tokens
        )
        return completion


def _by_people(conversation: Conversation) -> Iterator[tuple[Turn, str]]:
    """Yield what people and assistants said in words of their own, with these words.

    Tools and system prompts are no speakers, and what was recalled from memory is known already.
    """
    for turn in conversation.turns:
        if turn.role in (Role.USER, Role.ASSISTANT) and not turn.only_quotes_memory:
            words = without_injected(turn.content)
            if words.strip():
                yield turn, words


def _cut(conversation: Conversation, window_tokens: int) -> Sequence[Sequence[Piece]]:
    """Return what is shown, window by window; a very long conversation takes a while."""
    sizes = {"max_tokens": window_tokens, "overlap_tokens": _OVERLAP_TOKENS}
    return list(windows(list(pieces(list(_by_people(conversation)), **sizes)), **sizes))


def _shown(piece: Piece) -> ShownTurn:
    turn = piece.turn
    return ShownTurn(
        number=turn.turn_seq,
        role=turn.role.value,
        speaker=turn.speaker,
        text=piece.text,
        said_at=said_at(turn),
        is_continued=piece.start > 0,
    )


async def _checked(checker: Checker, answer: Answer | None) -> Checked:
    """Check an answer's items beside the event loop: many of them take a while."""
    return await asyncio.to_thread(checker.check, answer.items) if answer else Checked()


def _cut_off(answer: Answer) -> Sequence[Rejected]:
    if not answer.remainder:
        return ()
    return (Rejected(reason="the answer was cut off here", raw=answer.remainder[:_MAX_EXCERPT]),)


def _unusable(text: str) -> ProviderError:
    excerpt = text[:_MAX_EXCERPT]
    if looks_like_refusal(text):
        return Refused("The model declined to read the conversation.", raw=excerpt)
    what = "has no JSON of the agreed form" if text.strip() else "is empty"
    return InvalidAnswer(f"The model's answer {what}, even after one repair.", raw=excerpt)


def _without_repetition(candidates: Sequence[Candidate]) -> Iterator[Candidate]:
    """Yield each proposal once, with the evidence of all windows that made it."""
    merged: dict[object, Candidate] = {}
    for candidate in candidates:
        same = (candidate.type, candidate.claim or candidate.body.key, candidate.body.chunk_text)
        known = merged.get(same)
        if known is not None:
            turn_ids = tuple(dict.fromkeys((*known.turn_ids, *candidate.turn_ids)))
            candidate = replace(known, turn_ids=turn_ids)
        merged[same] = candidate
    yield from merged.values()
