"""Sessions: a user who asks about a topic, an assistant who advises, and what is told meanwhile."""

from dataclasses import dataclass
from typing import Any, Final

from evaluation.datasets.generator.drafts import Said
from evaluation.datasets.generator.grammar import Topic
from evaluation.datasets.generator.pen import Pen, capitalized

_PARAGRAPH: Final = 4
"""Sentences of a paragraph, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Length:
    """How much is said in a session."""

    exchanges: tuple[int, int]
    """Fewest and most pairs of messages."""
    sentences: tuple[int, int]
    """Fewest and most of one advice."""


def write_session(pen: Pen, length: Length, said: Said) -> tuple[list[dict[str, Any]], int]:
    """Return the messages, and which of them holds what was said: its index."""
    topic = pen.grammar.topics[said.topic]
    chat = topic.near(said.about)
    exchanges = pen.chance.randint(*length.exchanges)
    told_in = pen.chance.randrange(exchanges)
    messages: list[dict[str, Any]] = []
    for number in range(exchanges):
        is_told = number == told_in
        user = _question(pen, chat, is_first=number == 0)
        assistant = _advice(pen, chat, length)
        if is_told and said.reply:
            user, assistant = said.ask, said.reply
        elif is_told and said.fact:
            user = _question(pen, topic.only(said.about), is_first=number == 0)
            user = pen.phrase(
                "planted", chat=user, fact=said.fact, fact_start=capitalized(said.fact)
            )
        messages += [_message("user", user), _message("assistant", assistant)]
    return messages, 2 * told_in + bool(said.reply)


def _message(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "content": content}


def _question(pen: Pen, topic: Topic, *, is_first: bool) -> str:
    return pen.phrase("openers" if is_first else "follow_ups", topic)


def _advice(pen: Pen, topic: Topic, length: Length) -> str:
    count = pen.chance.randint(*length.sentences)
    sentences = [capitalized(pen.phrase("advice", topic)) for _ in range(count)]
    paragraphs = [pen.phrase("advice_start", topic)]
    while sentences:
        size = pen.chance.randint(1, _PARAGRAPH)
        paragraphs.append(" ".join(sentences[:size]))
        sentences = sentences[size:]
    return "\n\n".join([*paragraphs, pen.phrase("advice_end", topic)])
