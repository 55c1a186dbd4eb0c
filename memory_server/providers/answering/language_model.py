"""Answers by a language model that is given what is remembered."""

from collections.abc import AsyncIterator, Iterator, Sequence

from memory_server.domain.chunk import Chunk
from memory_server.domain.past_questions import PastQuestion
from memory_server.domain.turn import Role, Turn
from memory_server.ports.answerer import Answerer
from memory_server.prompts.answer import INSTRUCTIONS, as_data
from memory_server.providers.extraction.chat import LazyChatModel, Message, ModelAccess


class LanguageModelAnswerer(Answerer):
    """Streams a model's answer; memory reaches the model as data, never as instructions."""

    def __init__(self, access: ModelAccess) -> None:
        self._model = LazyChatModel(access)

    @property
    def name(self) -> str:
        return self._model.name

    async def answer(
        self,
        message: str,
        *,
        context: str,
        chunks: Sequence[Chunk],
        recent: Sequence[Turn],
        past: PastQuestion | None = None,
    ) -> AsyncIterator[str]:
        known = context or "\n".join(chunk.content for chunk in chunks)
        asked = Message(role="user", text=f"{as_data(known)}\n\n{message}" if known else message)
        async for piece in self._model.stream(INSTRUCTIONS, (*_alternating(recent), asked)):
            yield piece


def _alternating(recent: Sequence[Turn]) -> Iterator[Message]:
    """Yield recent turns as messages that begin with the user and take turns, as models want.

    Turns of one side in a row become one message; a user's last turns without an answer are
    closed with a note, because the question itself follows as the user's.
    """
    run: list[Turn] = []
    begun = False
    for turn in recent:
        if turn.role not in (Role.USER, Role.ASSISTANT) or not (begun or turn.role is Role.USER):
            continue
        begun = True
        if run and run[0].role is not turn.role:
            yield _message(run)
            run = []
        run.append(turn)
    if run:
        yield _message(run)
        if run[0].role is Role.USER:
            yield Message(role="assistant", text="(noted)")


def _message(run: Sequence[Turn]) -> Message:
    text = "\n\n".join(turn.content for turn in run)
    return Message(role="user" if run[0].role is Role.USER else "assistant", text=text)
